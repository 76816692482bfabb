// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/cli/commands.h"
#include "analyzer/cli/print.h"
#include "analyzer/model/profile_builder.h"
#include "analyzer/report/explanation.h"
#include "analyzer/report/value_format.h"
#include "analyzer/session/session.h"
#include "analyzer/symbols/symbolizer.h"

#include <algorithm>

namespace whichlock::cli {
namespace {

void printScores(const LoadedInput& loaded, std::FILE* out)
{
    print(out, "{}: {} ({}), {} bytes\n", printable(loaded.name),
        loaded.format.empty() ? "no format" : loaded.format, confidenceName(loaded.confidence), loaded.bytes);
    for (const Diagnostic& one : loaded.diagnostics)
        print(out, "  {}: {}\n", severityName(one.severity), printable(one.message));
    if (loaded.scores.empty())
        return;
    print(out, "  {:<18} {:>9} {:>7} {:>8} {:>10}  {}\n", "format", "sure", "blocks", "lines", "first line",
        "why");
    for (const FormatScore& score : loaded.scores) {
        if (score.blocks == 0)
            print(out, "  {:<18} {:>9} {:>7}\n", score.format, "no", 0);
        else
            print(out, "  {:<18} {:>9} {:>7} {:>8} {:>10}  {}\n", score.format,
                confidenceName(score.best.confidence), score.blocks, score.lines, score.firstLine,
                score.best.why);
    }
}

/// Recordings have addresses: how their locks may be named depends on the processor.
void printRungs(const Profile& profile, std::FILE* out)
{
    for (const InputInfo& input : profile.inputs)
        for (const Fact& fact : input.facts)
            if (fact.kind == FactKind::Arch && input.format == "perf.data")
                print(out, "  {}: {}\n", printable(fact.value), rungsOf(fact.value));
}

} // namespace

int formatsCommand(const Options& options, std::FILE* out, std::FILE* err)
{
    OpenedInputs opened = openInputs(options.files);
    for (const Error& error : opened.errors)
        print(err, "whichlock: {}: {}\n", printable(toString(error.position)), error.message);
    SymbolizerOptions symbols = options.symbols;
    symbols.inlines = false;
    Symbolizer symbolizer(symbols);
    size_t taken = 0;
    for (const auto& source : opened.sources) {
        ProfileBuilder builder; // the records are not needed, only what became of the input
        builder.beginInput(source->name());
        const LoadedInput loaded = loadInput(*source, symbolizer, builder);
        printScores(loaded, out);
        builder.finishInput(loaded);
        printRungs(builder.freeze(), out);
        taken += loaded.failed ? 0 : 1;
    }
    if (taken == options.files.size())
        return kFine;
    if (taken != 0)
        return kDataLoss;
    return opened.sources.empty() ? kUsage : kUnknownFormat;
}

} // namespace whichlock::cli
