// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/lock_index.h"

#include "analyzer/naming/lock_namer.h"

#include <algorithm>
#include <map>
#include <set>

namespace whichlock {
namespace {

constexpr uint64_t kProgressEvery = 256;

/// False if the call is inside of a lock routine, where it is a wrapper's and no taker's.
bool setFunctions(std::vector<std::string> functions, bool kernel, LockIndexRow& row)
{
    if (functions.empty())
        return true;
    row.function = std::move(functions.back());
    functions.pop_back();
    const auto lastPart = [](const std::string& name) {
        const std::string_view plain = std::string_view(name).substr(0, name.find('<'));
        const size_t at = plain.rfind("::");
        return at == std::string_view::npos ? std::string_view(name) : std::string_view(name).substr(at + 2);
    };
    const auto user = std::ranges::find_if_not(
        functions, [&](const std::string& name) { return isLockPrimitive(lastPart(name), kernel); });
    row.inlined.assign(user, functions.end());
    return user != functions.end() || !isLockPrimitive(lastPart(row.function), kernel);
}

} // namespace

LockIndex buildLockIndex(LockNamer& namer, const std::function<void(uint64_t, uint64_t)>& progress)
{
    LockIndex index;
    index.buildId = namer.image().buildId().hex();
    const std::vector<LockCall> calls = namer.findCalls();
    uint64_t done = 0;
    for (const LockCall& call : calls) {
        if (progress && done % kProgressEvery == 0)
            progress(done, calls.size());
        ++done;
        LockIndexRow row{.callSite = call.address, .routine = std::string(call.routine)};
        std::vector<std::string> functions = namer.functionsAt(call.address);
        index.withoutInfoCount += functions.empty() ? 1 : 0;
        if (!setFunctions(std::move(functions), namer.image().isKernel(), row))
            continue;
        if (row.function.empty())
            if (const ImageSymbol* symbol = namer.image().functionAt(call.address))
                row.function = symbol->name;
        LockName name = namer.nameCall(call);
        namer.trim();
        row.lock = name.text();
        row.expression = std::move(name.expression);
        row.kind = name.kind;
        row.side = name.side;
        row.source = name.source;
        row.tries = name.tries;
        row.tail = call.tail;
        row.inferred = name.inferred;
        row.ambiguous = !name.alternatives.empty();
        index.namedCount += name.isNamed() ? 1 : 0;
        index.rows.push_back(std::move(row));
    }
    std::ranges::sort(index.rows, {}, &LockIndexRow::callSite);
    return index;
}

bool LockIndexFilter::takes(const LockIndexRow& row) const
{
    if (!function.empty() && row.function != function
        && std::ranges::find(row.inlined, function) == row.inlined.end())
        return false;
    return lock.empty() || row.lock.find(lock) != std::string::npos
        || row.expression.find(lock) != std::string::npos;
}

std::vector<LockSummary> summariseLocks(const std::vector<LockIndexRow>& rows)
{
    struct Group {
        LockType kind = LockType::Spin;
        std::set<std::string_view> functions{};
        uint64_t callSiteCount = 0;
    };
    std::map<std::string_view, Group> groups;
    for (const LockIndexRow& row : rows) {
        if (row.lock.empty())
            continue;
        Group& group = groups[row.lock];
        group.kind = row.kind;
        group.functions.insert(row.function);
        ++group.callSiteCount;
    }
    std::vector<LockSummary> summaries;
    for (const auto& [lock, group] : groups)
        summaries.push_back(
            {std::string(lock), lockKindName(group.kind), group.functions.size(), group.callSiteCount});
    std::ranges::stable_sort(summaries,
        [](const LockSummary& a, const LockSummary& b) { return a.functionCount > b.functionCount; });
    return summaries;
}

} // namespace whichlock
