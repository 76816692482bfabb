// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/narrow.h"

#include "analyzer/report/section_builders.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

namespace whichlock {
namespace {

/// Says for each stack whether the expression is found in one of its functions, and how deep it is.
class FocusedStacks {
public:
    FocusedStacks(const Profile& profile, const std::string& expression)
        : meets_(profile.stackCount() + 1)
        , depth_(profile.stackCount() + 1)
    {
        RE2::Options options;
        options.set_log_errors(false);
        const RE2 focus(expression, options);
        std::vector<char> known; // by symbol: 0 = not looked at yet, 1 = no, 2 = yes
        for (uint32_t i = 1; i <= profile.stackCount(); ++i) {
            const Stack& stack = profile.stack({i});
            const StringId symbol = profile.frame(stack.frame).symbol;
            if (known.size() <= symbol.v)
                known.resize(symbol.v + 1);
            char& answer = known[symbol.v];
            if (answer == 0) {
                const std::string_view name = profile.string(symbol);
                answer = RE2::PartialMatch({name.data(), name.size()}, focus) ? 2 : 1;
            }
            meets_[i] = meets_[stack.parent.v] || answer == 2; // parents stand before their children
            depth_[i] = depth_[stack.parent.v] + 1;
        }
    }

    bool meets(StackId stack) const { return meets_[stack.v]; }
    uint64_t depth(StackId stack) const { return depth_[stack.v]; }

private:
    std::vector<bool> meets_;
    std::vector<uint32_t> depth_;
};

void focusSection(Section& section, const FocusedStacks& focus)
{
    std::erase_if(section.cells, [&](const Cell& cell) {
        if (focus.meets(cell.stack))
            return false;
        section.leftOut += {.samples = cell.samples, .weight = cell.weight};
        section.samples -= std::min(cell.samples, section.samples);
        section.weight -= std::min(cell.weight, section.weight);
        section.rows -= std::min(cell.samples * focus.depth(cell.stack), section.rows);
        return true;
    });
}

/// What a section is called in a sentence.
std::string nameOf(const Section& section)
{
    const SectionRecord& record = section.record;
    if (!record.title.empty())
        return '"' + record.title + '"';
    return record.event.empty() ? record.format : record.event;
}

/// Why nothing of a section can be shown; nothing if some of it can.
std::optional<Diagnostic> whyLeftOut(const Section& section, const std::string& filter)
{
    if (section.trace) {
        if (!section.trace->untold)
            return std::nullopt; // its waits are cut, and what is left out of them is counted
        return makeDiagnostic(DiagnosticCode::FilterUntold,
            fmt::format("the waits of {} are left out: it does not tell which of them are of {}",
                section.record.position.chain, filter),
            section.record.position);
    }
    const bool untold = section.samples == 0 && section.leftOut.untold == section.leftOut.samples;
    if (section.samples == 0 && section.leftOut.samples == 0)
        return makeDiagnostic(DiagnosticCode::FilterNotApplicable,
            fmt::format("{} holds no single samples: it is left out, as it cannot be cut down to {}",
                nameOf(section), filter),
            section.record.position);
    if (untold)
        return makeDiagnostic(DiagnosticCode::FilterUntold,
            fmt::format("{} is left out: its {} samples do not tell whether they are of {}", nameOf(section),
                section.leftOut.samples, filter),
            section.record.position);
    if (section.samples == 0)
        return makeDiagnostic(DiagnosticCode::FilterKeepsNothing,
            fmt::format("{} is left out: none of its {} samples is of {}", nameOf(section),
                section.leftOut.samples, filter),
            section.record.position);
    return std::nullopt;
}

} // namespace

Profile narrowed(const Profile& profile, const Query& query, std::vector<Diagnostic>& diagnostics)
{
    Profile result = profile;
    result.sections.clear();
    const std::string filter = filterText(query);
    std::optional<FocusedStacks> focus;
    if (!query.focus.empty())
        focus.emplace(profile, query.focus);
    for (const Section& section : profile.sections) {
        if (!focus && isTimedElsewhere(profile, section))
            continue; // the trace shows what its events tell
        Section kept = section;
        if (focus && kept.samples != 0)
            focusSection(kept, *focus);
        if (kept.trace && focus) {
            diagnostics.push_back(makeDiagnostic(DiagnosticCode::FilterNotApplicable,
                fmt::format("the waits of {} are left out: they cannot be cut down to {}",
                    kept.record.position.chain, filter),
                kept.record.position));
            continue;
        }
        if (auto why = whyLeftOut(kept, filter)) {
            diagnostics.push_back(std::move(*why));
            continue;
        }
        if (kept.leftOut.untold != 0)
            diagnostics.push_back(makeDiagnostic(DiagnosticCode::FilterUntold,
                fmt::format("{} samples of {} do not tell whether they are of {}; they are left out",
                    kept.leftOut.untold, nameOf(kept), filter),
                kept.record.position));
        result.sections.push_back(std::move(kept));
    }
    return result;
}

} // namespace whichlock
