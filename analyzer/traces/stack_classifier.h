// SPDX-License-Identifier: GPL-3.0-or-later
// What the functions of a stack tell about the thread: which kind of wait it is in, why it left its
// processor, whether it gives a lock back.
#pragma once

#include "analyzer/locks/routine_table.h"
#include "analyzer/traces/trace_types.h"

#include <span>
#include <string>
#include <unordered_map>

namespace whichlock {

/// A frame by its function; empty when it has no name.
struct NamedFrame {
    std::string_view function{};
    bool kernel = false;
    bool runtime = false; ///< of the runtime library of C++, which only passes calls on
};

/// MT: one thread.
class StackClassifier {
public:
    StackClassifier(const RoutineTable& routines, const Context& context);

    /// Frames stand innermost first; inlined functions are frames of their own.
    TraceStackClass classify(std::span<const NamedFrame> frames);
    /// The first frame outwards that is no part of the waiting: where the lock is taken. The number of
    /// frames if there is none.
    size_t siteOf(std::span<const NamedFrame> frames);
    /// Whether a function is part of a wait or of a release, and not what waits.
    bool isPartOfWait(const NamedFrame& frame) { return factsOf(frame).partOfWait; }
    /// Whether it is a method that takes or gives back the lock that its class is, or looks after.
    static bool isLockMethod(std::string_view function);
    /// The function that a thread sleeps in, of the stack of its switch-out: the first one that is no
    /// function of the scheduler.
    size_t sleepSiteOf(std::span<const NamedFrame> frames);
    /// The same for the stack of who gives a lock back.
    size_t releaseSiteOf(std::span<const NamedFrame> frames);

private:
    /// What is known of a function.
    struct Facts {
        WaitReason wait = WaitReason::Unknown; ///< what is waited for inside of it
        LeaveReason leave = LeaveReason::Unknown;
        bool partOfWait = false; ///< passed over when the call site is looked for
        bool takes = false;      ///< waits for a lock, on the processor or off it
        bool skipped = false;    ///< generic part of the scheduler
        bool acquires = false;
        bool tries = false; ///< of these, one that does not wait
        bool releases = false;
        bool signals = false;
        bool ofRwlock = false;
        bool reacquires = false;  ///< takes the mutex at the end of a condition wait
        bool ofAllocator = false; ///< takes the lock of memory that is handed out
        bool threadWord = false;  ///< its locks sleep on words of the waiting threads
    };

    const Facts& factsOf(const NamedFrame& frame);
    Facts lookUp(const NamedFrame& frame) const;
    void classifyKernel(std::span<const NamedFrame> frames, TraceStackClass& known);
    bool yields(std::span<const NamedFrame> frames);
    void classifyUser(std::span<const NamedFrame> frames, TraceStackClass& known);
    static void classifyMethod(
        const NamedFrame& method, WaitReason reason, bool sleeps, TraceStackClass& known);

    const RoutineTable& routines_;
    Context context_;
    std::unordered_map<std::string, Facts> facts_[2]; ///< user space, kernel
};

} // namespace whichlock
