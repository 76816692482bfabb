// SPDX-License-Identifier: GPL-3.0-or-later
// The subcommands. Each prints to the streams it is given and returns the exit code.
#pragma once

#include "analyzer/cli/options.h"

#include <cstdio>

namespace whichlock::cli {

enum ExitCode : int {
    kFine = 0,
    kUsage = 1,    ///< or nothing could be read
    kDataLoss = 2, ///< finished, but something was lost or some inputs could not be read
    kInternalError = 3,
    kUnknownFormat = 4, ///< alone: nothing else went wrong
};

int reportCommand(const Options& options, std::FILE* out, std::FILE* err);
int locksCommand(const Options& options, std::FILE* out, std::FILE* err);
int explainCommand(const Options& options, std::FILE* out, std::FILE* err);
int formatsCommand(const Options& options, std::FILE* out, std::FILE* err);

} // namespace whichlock::cli
