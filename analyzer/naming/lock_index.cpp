// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/lock_index.h"

#include "analyzer/naming/lock_namer.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <thread>

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

/// The row of a call; nothing if it is inside of a lock routine.
std::optional<LockIndexRow> rowOf(LockNamer& namer, const LockCall& call, bool& withoutInfo)
{
    LockIndexRow row{.callSite = call.address, .routine = std::string(call.routine)};
    std::vector<std::string> functions = namer.functionsAt(call.address);
    withoutInfo = functions.empty();
    if (!setFunctions(std::move(functions), namer.image().isKernel(), row))
        return std::nullopt;
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
    row.btf = name.btf;
    row.ambiguous = !name.alternatives.empty();
    return row;
}

/// Rows of some of the calls.
struct IndexPart {
    std::vector<LockIndexRow> rows{};
    uint64_t withoutInfoCount = 0;
};

void addRows(LockNamer& namer, std::span<const LockCall> calls, IndexPart& part)
{
    for (const LockCall& call : calls) {
        bool withoutInfo = false;
        if (auto row = rowOf(namer, call, withoutInfo))
            part.rows.push_back(std::move(*row));
        part.withoutInfoCount += withoutInfo ? 1 : 0;
    }
}

void takePart(IndexPart part, LockIndex& index)
{
    index.withoutInfoCount += part.withoutInfoCount;
    std::ranges::move(part.rows, std::back_inserter(index.rows));
}

void finishIndex(LockIndex& index)
{
    std::ranges::sort(index.rows, {}, &LockIndexRow::callSite);
    index.namedCount = static_cast<uint64_t>(
        std::ranges::count_if(index.rows, [](const LockIndexRow& row) { return !row.lock.empty(); }));
}

/// MT: locked inside. Deals pieces of the calls to whoever asks.
class SharedCalls {
public:
    SharedCalls(std::vector<LockCall> calls, const IndexProgress& progress)
        : calls_(std::move(calls))
        , progress_(progress)
    {
    }

    std::span<const LockCall> next()
    {
        const std::scoped_lock lock(mutex_);
        const size_t from = given_;
        given_ = std::min(from + kProgressEvery, calls_.size());
        if (progress_ && from < given_)
            progress_(from, calls_.size());
        return std::span(calls_).subspan(from, given_ - from);
    }
    void put(IndexPart part)
    {
        const std::scoped_lock lock(mutex_);
        takePart(std::move(part), index_);
    }
    LockIndex& index() { return index_; }

private:
    std::mutex mutex_;
    std::vector<LockCall> calls_; ///< does not change
    const IndexProgress& progress_;
    size_t given_ = 0;
    LockIndex index_;
};

void work(LockNamer& namer, SharedCalls& shared)
{
    for (std::span<const LockCall> calls = shared.next(); !calls.empty(); calls = shared.next()) {
        IndexPart part;
        addRows(namer, calls, part);
        shared.put(std::move(part));
    }
}

} // namespace

LockIndex buildLockIndex(LockNamer& namer, const IndexProgress& progress)
{
    SharedCalls shared(namer.findCalls(), progress);
    work(namer, shared);
    LockIndex& index = shared.index();
    index.buildId = namer.image().buildId().hex();
    finishIndex(index);
    return std::move(index);
}

Result<LockIndex> buildLockIndex(
    const ModuleFiles& files, const LockEntries& entries, unsigned threads, const IndexProgress& progress)
{
    const auto first = LockNamer::open(files, {.entries = &entries});
    if (!first)
        return tl::make_unexpected(first.error());
    std::vector<LockCall> calls = (*first)->findCalls();
    // Opening the files once more takes as long as naming some hundred calls.
    constexpr size_t kCallsPerThread = 1024;
    const size_t workers = std::min<size_t>(std::max(threads, 1U), 1 + calls.size() / kCallsPerThread);
    SharedCalls shared(std::move(calls), progress);
    {
        std::vector<std::jthread> others;
        for (size_t i = 1; i < workers; ++i)
            others.emplace_back([&] {
                if (const auto namer = LockNamer::open(files, {.entries = &entries}))
                    work(**namer, shared);
            });
        work(**first, shared);
    }
    LockIndex& index = shared.index();
    index.buildId = (*first)->image().buildId().hex();
    finishIndex(index);
    return std::move(index);
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
