// SPDX-License-Identifier: GPL-3.0-or-later
// A recording beside the source tree as a trace: its events from perf.data, its stacks from what perf script
// printed for them, so that the analysis of traces is tested apart from symbolizing.
#pragma once

#include "analyzer/traces/perf_trace_events.h"
#include "analyzer/traces/stack_classifier.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace whichlock::test {

/// A frame as perf script prints it.
struct ScriptFrame {
    std::string function;
    bool kernel = false;

    auto operator<=>(const ScriptFrame&) const = default;
};
using ScriptStack = std::vector<ScriptFrame>; ///< innermost first

struct RecordedTrace {
    TraceAnalysis analysis;
    std::vector<ScriptStack> stacks; ///< of TraceStackId v - 1

    /// The function that waits with that stack, or holds; empty if the stack does not tell.
    std::string siteOf(TraceStackId stack) const;
    /// The lock at a user address, or null.
    const TraceLock* user(uint64_t address) const;
    const TraceLock* kernel(uint64_t address) const;
    /// The waits at a user address, which may be one of several words of a lock.
    std::optional<TraceWord> userWord(uint64_t address) const;
};

/// All waits for a lock as those of one word; nothing for null.
std::optional<TraceWord> wordOf(const TraceLock* lock);

/// Reads `folder/name.data` with the stacks of `folder/name.script.txt.gz`.
RecordedTrace readTrace(const std::filesystem::path& folder, const std::string& name);

} // namespace whichlock::test
