// SPDX-License-Identifier: GPL-3.0-or-later
// What the command line of a recording says: whether it covered the machine or some processes only, and which
// program it ran.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace whichlock {

/// Whose time a recording can show. Shares of a machine and of a process are never compared.
enum class RecordedScope : uint8_t {
    Unknown,
    Machine, ///< all processes, on all or some processors
    Process, ///< chosen processes: a workload, or by pid, tid or user
};

/// `machine`, `process`, empty: as the JSON contract names it.
std::string_view scopeName(RecordedScope scope);

struct RecordCommand {
    RecordedScope scope = RecordedScope::Unknown;
    std::string workload{};    ///< the program that was run, with its arguments; empty if there was none
    bool copiesStacks = false; ///< `--call-graph dwarf`
};

/// Reads a command line of perf; everything is unknown for those of other tools.
RecordCommand parseRecordCommand(std::string_view command);

} // namespace whichlock
