// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/cli/commands.h"
#include "analyzer/cli/print.h"
#include "analyzer/report/version.h"

#include <cerrno>
#include <cstring>

using namespace whichlock;

namespace {

int run(const cli::Options& options, bool helpWasAsked)
{
    switch (options.command) {
    case cli::Command::Help:
        cli::print(stdout, "{}", cli::helpText());
        return helpWasAsked ? cli::kFine : cli::kUsage;
    case cli::Command::Version:
        cli::print(stdout, "whichlock {}\n", kVersion);
        return cli::kFine;
    case cli::Command::Report:
        return cli::reportCommand(options, stdout, stderr);
    case cli::Command::Locks:
        return cli::locksCommand(options, stdout, stderr);
    case cli::Command::Explain:
        return cli::explainCommand(options, stdout, stderr);
    case cli::Command::Formats:
        return cli::formatsCommand(options, stdout, stderr);
    }
    return cli::kInternalError;
}

} // namespace

int main(int argc, char** argv)
{
    const auto options = cli::parseOptions({argv + 1, argv + argc});
    if (!options) {
        cli::print(stderr, "whichlock: {}; `whichlock --help` tells more\n", options.error());
        return cli::kUsage;
    }
    const int exitCode = run(*options, argc > 1);
    errno = 0;
    if (cli::arrived(stdout))
        return exitCode;
    cli::print(stderr, "whichlock: standard output: {}; what was to be printed is not complete\n",
        errno != 0 ? std::strerror(errno) : "cannot be written");
    return exitCode == cli::kFine ? cli::kDataLoss : exitCode;
}
