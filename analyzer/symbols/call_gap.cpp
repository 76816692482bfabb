// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/call_gap.h"

#include "analyzer/symbols/demangle.h"
#include "analyzer/symbols/module_data.h"

#include <algorithm>

namespace whichlock {
namespace {

/// Parts of a function that the compiler moved away are jumped to, not called.
std::string_view withoutColdEnding(std::string_view name)
{
    const size_t cold = name.rfind(".cold");
    return cold == 0 || cold == std::string_view::npos ? name : name.substr(0, cold);
}

bool isLeaf(const CalledFunction& called, const SymbolHit& leafFunction, bool sameModule, ModuleReader& leaf)
{
    if (!called.imported)
        return sameModule
            && (called.address == leafFunction.address
                || called.symbol == withoutColdEnding(leafFunction.name));
    // Which of its implementations an indirect function became cannot be told: it may be the leaf.
    const std::vector<ExportedFunction> exports = leaf.exported(called.symbol);
    return std::ranges::any_of(exports,
        [&](const ExportedFunction& one) { return one.indirect || one.address == leafFunction.address; });
}

} // namespace

CallGap callGap(ModuleReader& leaf, uint64_t leafOffset, ModuleReader& caller, uint64_t returnOffset)
{
    const std::optional<CalledFunction> called = caller.calledBefore(returnOffset);
    if (!called)
        return {};
    const bool sameModule = &leaf == &caller;
    if (const auto function = leaf.functionAt(leafOffset);
        function && isLeaf(*called, *function, sameModule, leaf))
        return {.kind = CallGap::Kind::None};
    return {.kind = CallGap::Kind::Lost,
        .function = demangle(called->symbol),
        .otherModule = called->imported && leaf.exported(called->symbol).empty()};
}

} // namespace whichlock
