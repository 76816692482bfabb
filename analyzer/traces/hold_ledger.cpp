// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/hold_ledger.h"

namespace whichlock {
namespace {

/// Locks whose releases are never seen would remember each thread that ever waited.
constexpr size_t kMostEnded = 4096;

bool isOffCpu(Activity activity)
{
    switch (activity) {
    case Activity::Preempted:
    case Activity::Throttled:
    case Activity::Io:
    case Activity::Sleep:
    case Activity::Idle:
    case Activity::Blocked:
    case Activity::GracePeriod:
        return true;
    case Activity::Unknown:
    case Activity::Ran:
    case Activity::Uncertain:
    case Activity::Yielded:
    case Activity::Voluntary:
    case Activity::Woken:
    case Activity::LockWait:
        break;
    }
    return false;
}

} // namespace

void HoldLedger::waitBegins(int32_t thread, uint64_t timeNs, bool counted)
{
    fresh_.add({timeNs, thread, counted});
}

void HoldLedger::waitEnds(int32_t thread, uint64_t beganNs, uint64_t timeNs, bool acquired, bool counted)
{
    uint64_t rest = 0;
    bool handOff = false;
    if (fresh_.remove({beganNs, thread})) {
        rest = window_.lengthOf(beganNs, timeNs);
    } else if (settled_ > 0) {
        --settled_;
        settledCounted_ -= std::min(settledCounted_, counted ? 1U : 0U);
        rest = window_.lengthOf(cutNs_, timeNs);
        handOff = acquired && cutWasRelease_;
    }
    if (counted) {
        waitNs_ += window_.lengthOf(beganNs, timeNs);
        (handOff ? handOffNs_ : unseenNs_) += rest;
        if (rest > 0)
            rootNs({lock_, {}}) += rest;
    }
    if (!acquired)
        return;
    noteEnd(thread, timeNs);
    owner_ = thread;
}

uint64_t HoldLedger::waitDropped(int32_t thread, uint64_t beganNs, bool counted)
{
    if (fresh_.remove({beganNs, thread}) || settled_ == 0)
        return beganNs;
    --settled_;
    if (counted) {
        settledCounted_ -= std::min(settledCounted_, 1U);
        waitNs_ += window_.lengthOf(beganNs, cutNs_);
    }
    return cutNs_;
}

void HoldLedger::addUnseen(uint64_t ns)
{
    waitNs_ += ns;
    unseenNs_ += ns;
    if (ns > 0)
        rootNs({lock_, {}}) += ns;
}

/// Nearly always the lock itself is at the root.
uint64_t& HoldLedger::rootNs(const ChainRoot& root)
{
    if (root.lock != lock_)
        return otherRoots_[root];
    if (ownRootNs_.size() <= root.holder.v)
        ownRootNs_.resize(holders_.size() + 1);
    return ownRootNs_[root.holder.v];
}

std::map<ChainRoot, uint64_t> HoldLedger::roots() const
{
    std::map<ChainRoot, uint64_t> all = otherRoots_;
    for (uint32_t holder = 0; holder < ownRootNs_.size(); ++holder) {
        if (ownRootNs_[holder] != 0)
            all[{lock_, {holder}}] = ownRootNs_[holder];
    }
    return all;
}

const HoldLedger::EndedWait* HoldLedger::endedSinceCut(int32_t thread) const
{
    const auto at = std::ranges::lower_bound(endedSinceCut_, thread, {}, &EndedWait::thread);
    return at == endedSinceCut_.end() || at->thread != thread ? nullptr : &*at;
}

void HoldLedger::noteEnd(int32_t thread, uint64_t timeNs)
{
    if (endedSinceCut_.size() >= kMostEnded)
        endedSinceCut_.clear();
    const auto at = std::ranges::lower_bound(endedSinceCut_, thread, {}, &EndedWait::thread);
    if (at != endedSinceCut_.end() && at->thread == thread)
        at->endNs = timeNs;
    else
        endedSinceCut_.insert(at, {thread, timeNs});
}

HolderId HoldLedger::holderRow(HolderKey key)
{
    const HolderId id = keys_.intern(key);
    if (id.v > holders_.size())
        holders_.push_back({.key = key});
    return id;
}

void HoldLedger::addHold(HolderKey holder, uint64_t ns)
{
    holders_[holderRow(holder).v - 1].holds.add(ns);
}

uint64_t HoldLedger::holdBeganNs(int32_t thread) const
{
    const EndedWait* own = endedSinceCut(thread);
    return own == nullptr ? cutNs_ : std::max(cutNs_, own->endNs);
}

uint64_t HoldLedger::earliestUncutNs(uint64_t timeNs) const
{
    const uint64_t fresh = fresh_.empty() ? timeNs : fresh_.first().beganNs;
    return settled_ > 0 ? std::min(cutNs_, fresh) : fresh;
}

void HoldLedger::held(const HoldEnd& end, const HoldContext& context)
{
    const uint64_t began = std::max(holdBeganNs(end.thread), std::min(end.notBeforeNs, end.timeNs));
    const HolderId holder = holderRow(end.holder);
    if (end.released && !end.recorded && endedSinceCut(end.thread) != nullptr
        && window_.touches(began, end.timeNs))
        holders_[holder.v - 1].holds.add(end.timeNs - began);
    if (waiters() > 0) {
        if (end.released)
            ++holders_[holder.v - 1].cuts;
        const uint64_t from = earliestUncutNs(end.timeNs);
        pieces_.clear();
        addNobody(from, std::min(began, end.timeNs));
        addHeld(end.thread, holder, std::max(from, began), end.timeNs, context);
        chargePieces(holder, end.proven);
        remember();
    }
    cut(end.timeNs, end.released);
}

void HoldLedger::heldByNobody(uint64_t timeNs)
{
    if (waiters() > 0) {
        pieces_.clear();
        addNobody(earliestUncutNs(timeNs), timeNs);
        chargePieces({}, false);
        remember();
    }
    cut(timeNs, cutWasRelease_);
}

void HoldLedger::addNobody(uint64_t fromNs, uint64_t toNs)
{
    if (fromNs < toNs)
        pieces_.push_back({.fromNs = fromNs, .toNs = toNs, .nobody = true, .root = {lock_, {}}});
}

void HoldLedger::addHeld(
    int32_t thread, HolderId holder, uint64_t fromNs, uint64_t toNs, const HoldContext& context)
{
    if (fromNs >= toNs)
        return;
    const ThreadTimeline* timeline = context.timelineOf(thread);
    if (timeline == nullptr) {
        pieces_.push_back({.fromNs = fromNs, .toNs = toNs, .root = {lock_, holder}});
        return;
    }
    timeline->visit(fromNs, toNs, [&](Activity activity, uint32_t detail, uint64_t from, uint64_t to) {
        const Piece piece{
            .fromNs = from, .toNs = to, .activity = activity, .detail = detail, .root = {lock_, holder}};
        if (activity == Activity::LockWait && detail != lock_.v)
            addChain(piece, context);
        else
            pieces_.push_back(piece);
    });
}

/// The holder itself waited for a lock: whoever its waiting was charged to is the root of ours.
void HoldLedger::addChain(const Piece& stretch, const HoldContext& context)
{
    const TraceLockId waitedFor{stretch.detail};
    Piece piece = stretch;
    const auto add = [&](uint64_t toNs, ChainRoot root) {
        piece.toNs = toNs;
        piece.root = root;
        if (piece.fromNs < piece.toNs)
            pieces_.push_back(piece);
        piece.fromNs = toNs;
    };
    if (const HoldLedger* other = context.ledgerOf(waitedFor)) {
        other->visitRoots(stretch.fromNs, stretch.toNs, [&](ChainRoot root, uint64_t from, uint64_t to) {
            add(from, {waitedFor, {}});
            add(to, root);
        });
    }
    add(stretch.toNs, {waitedFor, {}});
}

/// Counts each piece once for each waiter; a waiter counts from the time on when it came.
void HoldLedger::chargePieces(HolderId holder, bool proven)
{
    uint64_t waiting = settledCounted_;
    WaitQueue::Walk comes(fresh_);
    for (const Piece& whole : pieces_) {
        Piece piece = whole;
        piece.fromNs = window_.clamp(whole.fromNs);
        piece.toNs = window_.clamp(whole.toNs);
        bool charged = false;
        for (uint64_t at = piece.fromNs; at < piece.toNs;) {
            for (; comes.current() != nullptr && comes.current()->beganNs <= at; comes.next())
                waiting += comes.current()->counted ? 1 : 0;
            const WaitQueue::Wait* const next = comes.current();
            const uint64_t end = next == nullptr ? piece.toNs : std::min(piece.toNs, next->beganNs);
            charge(holder, proven, piece, (end - at) * waiting);
            charged = charged || waiting > 0;
            at = end;
        }
        if (charged && !piece.nobody)
            noteOffCpu(holders_[holder.v - 1], piece);
    }
}

void HoldLedger::charge(HolderId holder, bool proven, const Piece& piece, uint64_t ns)
{
    if (ns == 0)
        return;
    rootNs(piece.root) += ns;
    if (piece.nobody) {
        (cutWasRelease_ ? handOffNs_ : unseenNs_) += ns;
        return;
    }
    HolderSums& sums = holders_[holder.v - 1];
    sums.waitNs += ns;
    if (proven)
        sums.provenNs += ns;
    sums.meanwhile[static_cast<size_t>(piece.activity)] += ns;
    if (piece.activity == Activity::Uncertain && piece.detail == kThrottledDetail)
        sums.throttledAtMostNs += ns;
    else if (piece.activity == Activity::Preempted
        || (piece.activity == Activity::Uncertain && piece.detail != 0))
        sums.preemptedBy[piece.detail] += ns;
    else if (piece.activity == Activity::LockWait)
        sums.waitedFor[piece.detail] += ns;
    else if (piece.activity == Activity::Blocked || piece.activity == Activity::Io
        || piece.activity == Activity::GracePeriod)
        sums.blockedAt[piece.detail] += ns;
}

void HoldLedger::noteOffCpu(HolderSums& sums, const Piece& piece) const
{
    if (piece.activity == Activity::Preempted)
        ++sums.preemptions;
    if (piece.activity == Activity::Throttled
        || (piece.activity == Activity::Uncertain && piece.detail == kThrottledDetail))
        ++sums.throttles;
    const uint64_t ns = piece.toNs - piece.fromNs;
    if (isOffCpu(piece.activity) && ns > sums.longestOffNs) {
        sums.longestOffNs = ns;
        sums.longestOffAtNs = piece.fromNs;
    }
}

/// Keeps the roots of the pieces for those who wait for another lock that a waiter of this one holds.
void HoldLedger::remember()
{
    for (const Piece& piece : pieces_) {
        if (!past_.empty() && past_.back().root == piece.root && past_.back().toNs == piece.fromNs)
            past_.back().toNs = piece.toNs;
        else
            past_.push_back({piece.fromNs, piece.toNs, piece.root});
    }
    if (past_.size() > kMostStretches)
        past_.erase(past_.begin(), past_.end() - kMostStretches / 2);
}

void HoldLedger::cut(uint64_t timeNs, bool released)
{
    settled_ += static_cast<uint32_t>(fresh_.size());
    for (WaitQueue::Walk wait(fresh_); wait.current() != nullptr; wait.next())
        settledCounted_ += wait.current()->counted ? 1 : 0;
    fresh_.clear();
    endedSinceCut_.clear();
    owner_ = -1;
    cutNs_ = std::max(cutNs_, timeNs);
    cutWasRelease_ = released;
}

} // namespace whichlock
