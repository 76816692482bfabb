// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/cli/commands.h"
#include "analyzer/report/version.h"

#include <fmt/format.h>

using namespace whichlock;

int main(int argc, char** argv)
{
    const auto options = cli::parseOptions({argv + 1, argv + argc});
    if (!options) {
        fmt::print(stderr, "whichlock: {}; `whichlock --help` tells more\n", options.error());
        return cli::kUsage;
    }
    switch (options->command) {
    case cli::Command::Help:
        fmt::print("{}", cli::helpText());
        return argc > 1 ? cli::kFine : cli::kUsage;
    case cli::Command::Version:
        fmt::print("whichlock {}\n", kVersion);
        return cli::kFine;
    case cli::Command::Report:
        return cli::reportCommand(*options, stdout, stderr);
    case cli::Command::Formats:
        return cli::formatsCommand(*options, stdout, stderr);
    }
    return cli::kInternalError;
}
