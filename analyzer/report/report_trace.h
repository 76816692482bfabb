// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of a trace: what threads spent their time on, who waited for which lock, behind whom.
#pragma once

#include "analyzer/locks/attribution.h"
#include "parsers/lock_trace_record.h"

#include <optional>
#include <string>
#include <vector>

namespace whichlock {

/// A line of the account of threads' time.
struct TraceAccountLine {
    std::string what;
    std::string key;
    uint64_t valueNs = 0;
    bool active = false;           ///< part of the active time; else not counted in any share
    std::optional<Share> ofActive; ///< only of active lines
};

struct ReportTraceSite {
    TracedSite figures;
    Share ofThisLock;
};

struct ReportTraceHolder {
    TracedHolder figures;
    std::optional<Share> ofHeld; ///< of the waiting that is charged to any holder
    Share ofThisLock;
};

/// What holders did meanwhile, in the parts of a table; with what the holder waited for they add up to the
/// waiting that is charged to it.
struct HolderParts {
    uint64_t ranNs = 0;
    uint64_t noCpuNs = 0; ///< runnable: preempted, throttled, or woken and not yet on a CPU
    uint64_t blockedNs = 0;
    uint64_t lockNs = 0;
    uint64_t unclearNs = 0; ///< not recorded, or on a CPU or runnable
};
HolderParts partsOf(const ActivityTimes& meanwhile);

/// A row of what --by asks for: who waited, where, or behind whom.
struct ReportTraceGroup {
    std::string key{};    ///< of rows that are nobody's: `handoff`, `unseen`
    TracedPlace at{};     ///< by site and holder
    std::string name{};   ///< of the thread or process
    int32_t pid = -1;     ///< -1 = it is not about one
    int32_t tid = -1;     ///< the same
    int32_t cpu = -1;     ///< the same
    uint64_t valueNs = 0; ///< waiting for locks; by holder what is charged to it
    Share ofLock{};       ///< of the sum of the rows
    std::optional<uint64_t> waits{};
    std::optional<uint64_t> maxNs{};  ///< nothing where no wait ended
    uint64_t locks = 0;               ///< how many; by site and holder
    std::optional<uint64_t> timeNs{}; ///< active time of the row, or all of it where that is not known
    std::optional<Share> ofOwnTime{}; ///< waiting for locks of that
    std::optional<HolderParts> did{}; ///< by holder
};

struct ReportTraceRoot {
    std::string function;    ///< empty: nobody, or who is not known
    bool calledFrom = false; ///< see TracedPlace
    bool nobody = false;
    std::string lock; ///< name of the lock at the end of the chain
    uint64_t ns = 0;
    Share ofThisLock;
};

struct ReportTracePattern {
    std::string name;
    uint64_t partNs = 0;
    bool atMost = false; ///< when the cause ended was not recorded
    Share ofThisLock;
};

struct ReportTraceLock {
    uint32_t id = 0; ///< place in the section, from one
    std::string name;
    bool selected = false; ///< the question is about it
    Rung rung = Rung::Unnamed;
    std::string basis;              ///< what the name rests on, in words
    std::string lockClass{};        ///< the name without the number of the instance
    std::string expression{};       ///< of names by code: as the heaviest site sees the lock
    std::optional<bool> verified{}; ///< of names by code or symbol: that build ids prove where they come from
    uint32_t instance = 0;  ///< of locks that share a class: which one, the heaviest first; 0 = it is alone
    uint32_t instances = 1; ///< of the class
    Share ofClass{};        ///< of the waiting for all of its class
    TracedLock figures;     ///< without sites, holders, roots and patterns
    Share ofLock;           ///< of all waiting for locks in the section, what lies in other waits left out
    std::optional<Share> ofActive;
    std::optional<FixedPoint> meanWaiters; ///< while there was one
    std::optional<Share> contendedOfWall;
    uint64_t heldNs = 0;
    uint64_t provenNs = 0;
    Share handOffOfLock{}; ///< of the waiting for this lock
    Share unseenOfLock{};
    std::vector<ReportTraceSite> sites;
    std::vector<ReportTraceHolder> holders;
    std::vector<ReportTraceRoot> roots;
    std::vector<ReportTracePattern> patterns;
};

/// Locks that share one name.
struct ReportLockClass {
    std::string name;
    uint32_t instances = 0;
    uint64_t valueNs = 0;
    Share ofLock;   ///< of all waiting for locks in the section
    Share heaviest; ///< of the class: its heaviest lock
};

/// Words that are waited for and are no locks, by kind.
struct ReportTraceWords {
    std::string kind;
    uint64_t words = 0;
    uint64_t waits = 0;
    uint64_t valueNs = 0;
    uint64_t untoldNs = 0; ///< of it: by functions that the stacks do not tell
};

struct ReportTrace {
    LockTraceRecord facts; ///< without its locks
    uint64_t activeNs = 0;
    /// Whether what threads did was recorded. If not, `activeNs` is all time that threads existed: more than
    /// they can have been active.
    bool activeKnown = false;
    uint64_t lockWaitNs = 0; ///< for all locks, lower bounds included; a wait inside of another counts once
    uint64_t nestedNs = 0;   ///< beyond that, in the figures of single locks: waits inside of others
    uint64_t lockWaitOfActive = 0;  ///< of lockWaitNs what is no part of any other wait of the same thread
    std::optional<Share> lockShare; ///< lockWaitOfActive of activeNs
    bool lowerBound = false;        ///< events are missing
    uint64_t threads = 0;
    std::optional<uint64_t> eventsPerCpuSecond; ///< of the whole recording
    std::vector<ReportTraceGroup> groups;       ///< heaviest first
    std::vector<TraceAccountLine> account;
    std::vector<ReportTraceLock> locks;   ///< heaviest first
    std::vector<ReportLockClass> classes; ///< of several locks, heaviest first
    std::vector<ReportTraceWords> words;
    std::vector<std::string> leftOut; ///< sentences
};

} // namespace whichlock
