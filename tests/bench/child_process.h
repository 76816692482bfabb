// SPDX-License-Identifier: GPL-3.0-or-later
// Programs that are run to be measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace whichlock::bench {

struct RunFigures {
    double seconds = 0;        ///< by the clock
    double cpuSeconds = 0;     ///< of its processors; says more where others use the machine
    uint64_t privateBytes = 0; ///< most anonymous memory; pages of mapped files do not count
    int status = -1;           ///< exit code; -1: it could not be run or was killed
};

/// Runs a program with its output thrown away. `watchMemory`: looks at its memory all the time, which costs
/// time.
RunFigures run(const std::vector<std::string>& command, bool watchMemory = false);
/// Runs it this often, and once more for the memory; the medians of the times.
RunFigures measure(const std::vector<std::string>& command, unsigned runs);
/// Whether the program can be found and run.
bool isThere(const std::string& program);

} // namespace whichlock::bench
