// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/locks/candidates.h"

#include "analyzer/locks/kernel_locks.h"
#include "analyzer/locks/known_sites.h"
#include "analyzer/locks/normalise.h"

#include <algorithm>
#include <fmt/format.h>

namespace whichlock {
namespace {

// How much a piece of evidence counts. A spin section of the file is nearer to the wait than a function that
// happens to be in the list; a name in the text is what a person said.
constexpr uint64_t kMentionScore = 40;
constexpr uint64_t kSpinSectionScore = 30;
constexpr uint64_t kFunctionScore = 10;
constexpr uint64_t kLaterAlternativeScore = 3;
const KernelVersion kFirstQueuedSpinlocks{.part = {4, 2}, .parts = 2};

std::string eraNote(const Era& era)
{
    if (!era.since && !era.until)
        return "any version";
    if (!era.until)
        return "since " + toString(*era.since);
    return (era.since ? toString(*era.since) : std::string("..")) + " to " + toString(*era.until);
}

} // namespace

CandidateList::CandidateList(const RoutineTable& routines, const RecordingContext& context)
    : routines_(routines)
    , context_(context)
    , lookup_(context.lookup())
{
    // Names come and go with kernels: what has the slow path of a new one is no old one.
    if (!lookup_.era && (context.symbolEra.since || context.symbolEra.until))
        lookup_.era = context.symbolEra;
}

void CandidateList::printedFunction(std::string_view symbol, std::string_view ticks)
{
    std::vector<std::string_view> found;
    for (const KnownSite* site : KnownSites::builtIn().find(normalisedView(symbol), lookup_)) {
        if (std::find(found.begin(), found.end(), site->lock) != found.end())
            continue;
        found.push_back(site->lock);
        const std::string through = site->via.empty() ? std::string() : fmt::format(" through {}", site->via);
        add(site->lock, kFunctionScore,
            fmt::format(
                "{} ({}) takes it{} ({}, {})", symbol, ticks, through, site->source, eraNote(site->era)));
    }
    takenByCode(symbol, ticks);
    bool known = !found.empty();
    for (const Routine* row : routines_.find(symbol, lookup_)) {
        known = true;
        const bool spinSection = row->roles.has(Role::SlowpathSpin);
        // What was read in the source of that version beats the general table.
        const bool hint = row->isSiteHint() && found.empty();
        if (!hint && !(spinSection && row->candidatesOnly))
            continue;
        for (size_t i = 0; i < row->locks.size(); ++i) {
            if (std::find(found.begin(), found.end(), row->locks[i]) != found.end())
                continue;
            found.push_back(row->locks[i]);
            const uint64_t score = spinSection ? kSpinSectionScore
                : i == 0                       ? kFunctionScore
                                               : kLaterAlternativeScore;
            add(row->locks[i], score,
                spinSection
                    ? fmt::format("{} ({}) holds the spin loops of a file that takes it", symbol, ticks)
                    : fmt::format("{} ({}) is known to take it ({})", symbol, ticks, eraNote(row->era)));
        }
    }
    if (!known)
        takenInKernels(symbol, ticks);
}

/// What kernels are known to take in a function, where no hand-made row says it. Old profiles only: in them
/// the spin loops of a lock stand in the function that takes it, or beside it.
void CandidateList::takenInKernels(std::string_view symbol, std::string_view ticks)
{
    const std::optional<Era>& era = context_.era;
    if (!era || !era->until || !(*era->until < kFirstQueuedSpinlocks))
        return;
    const std::vector<KernelLock> locks = KernelLocks::builtIn().allOf(normalisedView(symbol), *era);
    for (const KernelLock& lock : locks)
        add(lock.text(), kFunctionScore / locks.size(),
            fmt::format("{} ({}) takes it ({}, table, {})", symbol, ticks, lock.where, lock.kernels));
}

/// The fewer locks a function takes, and the fewer functions take a lock, the more it tells.
void CandidateList::takenByCode(std::string_view symbol, std::string_view ticks)
{
    const LockUse* use = routines_.lockUse();
    if (use == nullptr || !mayBeOfKernel(*use, context_.kernel))
        return;
    constexpr uint64_t kItselfScore = 20;
    constexpr uint64_t kThroughScore = 8;
    constexpr size_t kManyTakers = 50;
    const std::vector<TakenLock> taken = use->of(normalisedView(symbol));
    for (const TakenLock& one : taken) {
        uint64_t score = (one.via.empty() ? kItselfScore : kThroughScore) / taken.size();
        score = std::max<uint64_t>(one.takers > kManyTakers ? score / 2 : score, 1);
        const std::string how =
            one.via.empty() ? std::string("takes it") : fmt::format("calls {}, which takes it", one.via);
        const std::string among = taken.size() > 1 ? fmt::format(", one of {} locks", taken.size()) : "";
        add(one.lock, score,
            fmt::format("{} ({}) {}{} (code of {})", symbol, ticks, how, among, use->source()))
            .byCode = true;
    }
}

void CandidateList::mentioned(std::string_view lock, std::string_view where)
{
    add(lock, kMentionScore, fmt::format("the text names it ({})", where));
}

Candidate& CandidateList::add(std::string_view lock, uint64_t score, std::string reason)
{
    auto at = std::find_if(candidates_.begin(), candidates_.end(),
        [&](const Candidate& candidate) { return candidate.name == lock; });
    if (at == candidates_.end())
        at = candidates_.insert(at, {std::string(lock), 0, {}});
    at->score += score;
    at->reasons.push_back(std::move(reason));
    return *at;
}

std::vector<Candidate> CandidateList::take()
{
    // Equal evidence stays in the order in which it came: by the weight of the functions.
    std::stable_sort(candidates_.begin(), candidates_.end(),
        [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
    return std::move(candidates_);
}

} // namespace whichlock
