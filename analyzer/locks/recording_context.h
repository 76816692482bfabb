// SPDX-License-Identifier: GPL-3.0-or-later
// What is known about the machine and the event of a section: kernel era, processor, kind of event. Each
// item says where it comes from, for a guess must never look like a reading.
#pragma once

#include "analyzer/locks/lookup_context.h"
#include "analyzer/locks/record_command.h"
#include "analyzer/locks/routine_table.h"
#include "analyzer/model/profile.h"

#include <string>

namespace whichlock {

/// Whether samples can hit code that runs with interrupts off.
enum class NmiSafety : uint8_t { Safe, NotSafe, Unknown };

struct RecordingContext {
    std::string kernel;       ///< version as printed, or empty
    std::string kernelSource; ///< `header`, `image name`, `title`, `text`, `table labels`, `symbols`
    std::optional<Era> era;   ///< nothing = unknown: tables give candidates only
    Era symbolEra{};          ///< without an era: what the lock symbols leave; an end may be open
    std::string arch;         ///< empty = unknown
    std::string archSource;
    NmiSafety nmi = NmiSafety::Unknown;
    bool measuresTime = true; ///< false for events such as cache misses: shares of them are no shares of time
    bool userOnly = false;    ///< the event counts user mode only (`:u`)
    RecordCommand recorded{}; ///< the scope also by what the samples and the event say

    /// The context for looking up symbols. Views into this object.
    Context lookup() const { return {.era = era, .arch = arch, .debugBuild = false}; }
};

/// Finds out what the section, its input and the tables beside it say about the recording.
RecordingContext recordingContextOf(
    const Profile& profile, const Section& section, const RoutineTable& routines);

} // namespace whichlock
