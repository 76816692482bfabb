// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/session/session.h"

#include "analyzer/model/profile_builder.h"
#include "analyzer/session/filtering_sink.h"
#include "analyzer/session/perf_recording.h"
#include "parsers/perf_data/perf_data_reader.h"
#include "parsers/pprof/pprof_reader.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <tuple>

namespace whichlock {
namespace {

/// Smaller tables are alike by chance.
constexpr size_t kFewestRows = 2;

bool sameTables(const std::vector<TableRecord>& a, const std::vector<TableRecord>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const TableRecord& x, const TableRecord& y) {
        return x.columns == y.columns
            && std::equal(x.rows.begin(), x.rows.end(), y.rows.begin(), y.rows.end(),
                [](const TableRow& p, const TableRow& q) {
                    return p.label == q.label && p.values == q.values && p.spreads == q.spreads;
                });
    });
}

size_t sizeOf(const Section& section)
{
    size_t rows = section.cells.size() + section.counterRows.size();
    for (const TableRecord& table : section.tables)
        rows += table.rows.size();
    return rows;
}

bool sameContent(const Section& a, const Section& b)
{
    return a.record.kind == b.record.kind && a.record.event == b.record.event && a.total == b.total
        && a.samples == b.samples && a.cells == b.cells && a.counterColumns == b.counterColumns
        && a.counterRows == b.counterRows && sameTables(a.tables, b.tables);
}

/// Whether a flat profile is an excerpt of an earlier one, as quotes often are.
bool isQuotedExcerpt(const Section& earlier, const Section& later)
{
    if (later.record.quoteDepth <= earlier.record.quoteDepth || later.record.kind != SectionKind::CpuProfile
        || earlier.record.kind != SectionKind::CpuProfile || earlier.samples != 0 || later.samples != 0
        || earlier.record.event != later.record.event)
        return false;
    // Cells are sorted the same way in both: one forward pass.
    auto at = earlier.cells.begin();
    for (const Cell& cell : later.cells) {
        while (at != earlier.cells.end() && at->stack < cell.stack)
            ++at;
        if (at == earlier.cells.end() || !(*at == cell))
            return false;
    }
    return !later.total || later.total == earlier.total;
}

/// Whether a section of this input is still there.
bool hasSection(const Profile& profile, std::string_view input)
{
    return std::any_of(profile.sections.begin(), profile.sections.end(),
        [&](const Section& section) { return profile.inputs[section.input].name == input; });
}

/// Scores of a file that was given twice, or of a copy of it under another name.
void dropRepeatedScores(Profile& profile, const std::set<std::string, std::less<>>& repeatedInputs)
{
    std::erase_if(profile.scores, [&](const ScoreRecord& score) {
        return repeatedInputs.contains(score.position.chain) && !hasSection(profile, score.position.chain);
    });
    const auto tied = [](const ScoreRecord& score) {
        return std::tie(score.name, score.value, score.unit, score.heading, score.position);
    };
    profile.scores.erase(std::unique(profile.scores.begin(), profile.scores.end(),
                             [&](const ScoreRecord& a, const ScoreRecord& b) { return tied(a) == tied(b); }),
        profile.scores.end());
}

} // namespace

void dropRepeatedTables(Profile& profile)
{
    std::vector<Section> kept;
    std::set<std::string, std::less<>> repeatedInputs;
    for (Section& section : profile.sections) {
        const auto original = std::find_if(kept.begin(), kept.end(), [&](const Section& earlier) {
            return sizeOf(section) >= kFewestRows
                && (sameContent(earlier, section) || isQuotedExcerpt(earlier, section));
        });
        if (original == kept.end()) {
            kept.push_back(std::move(section));
            continue;
        }
        repeatedInputs.insert(profile.inputs[section.input].name);
        profile.diagnostics.push_back(makeDiagnostic(DiagnosticCode::TableRepeated,
            fmt::format("the table at {} stands here again; it was counted once",
                toString(original->record.position)),
            section.record.position));
    }
    profile.sections = std::move(kept);
    dropRepeatedScores(profile, repeatedInputs);
}

LoadedInput loadInput(
    Source& source, Symbolizer& symbolizer, RecordSink& sink, const RecordingOptions& selection)
{
    const auto head = source.head();
    if (head && looksLikePerfData(*head))
        return loadPerfRecording(source, symbolizer, sink, selection);
    const bool pprof = head && looksLikePprof(*head);
    const auto loadInto = [&](RecordSink& to) { return pprof ? loadPprof(source, to) : load(source, to); };
    if (selection.filter.empty())
        return loadInto(sink);
    FilteringSink filtering(sink, selection.filter);
    return loadInto(filtering);
}

Profile loadSession(std::vector<std::unique_ptr<Source>> sources, std::vector<Error> unopened,
    const SymbolizerOptions& symbols, const RecordingOptions& selection)
{
    Symbolizer symbolizer(symbols);
    ProfileBuilder builder;
    builder.tellApart(selection.byThread, selection.byCpu);
    for (const Error& error : unopened) {
        builder.beginInput(error.position.chain);
        LoadedInput failed;
        failed.failed = true;
        failed.diagnostics.push_back(error);
        builder.finishInput(failed);
    }
    for (const auto& source : sources) {
        builder.beginInput(source->name());
        builder.finishInput(loadInput(*source, symbolizer, builder, selection));
    }
    Profile profile = builder.freeze();
    dropRepeatedTables(profile);
    return profile;
}

OpenedInputs openInputs(const std::vector<std::string>& paths)
{
    OpenedInputs opened;
    for (const std::string& path : paths) {
        if (path == "-") {
            opened.sources.push_back(Source::fromStream("standard input", stdin));
            continue;
        }
        // `perf record --threads` makes a folder with a file `data` and one `data.N` a thread.
        std::error_code error;
        const bool folder = std::filesystem::is_regular_file(path + "/data.0", error);
        auto source = Source::openFile(folder ? path + "/data" : path);
        if (source)
            opened.sources.push_back(std::move(*source));
        else
            opened.errors.push_back(source.error());
    }
    return opened;
}

} // namespace whichlock
