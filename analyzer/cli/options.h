// SPDX-License-Identifier: GPL-3.0-or-later
// The command line, read into plain structs.
#pragma once

#include "analyzer/report/query.h"
#include "analyzer/symbols/symbolizer_options.h"
#include "parsers/result.h"

#include <string>
#include <vector>

namespace whichlock::cli {

enum class Command { Help, Version, Report, Formats, Locks, Explain };
enum class OutputFormat { Text, Markdown, Json, Csv };

struct Options {
    Command command = Command::Help;
    std::vector<std::string> files; ///< of `explain` the lock stands in front
    OutputFormat format = OutputFormat::Text;
    bool brief = false;
    bool redact = false;
    Query query;               ///< which samples, and what the main table is about
    SymbolizerOptions symbols; ///< where the names of a recording's addresses come from
    std::string function;      ///< of `locks`: only call sites in it
    std::string lock;          ///< of `locks`: only call sites of locks with this in their name
    std::string lockTable;     ///< file with lock routines of the user's own
};

/// Reads the arguments after the program's name. The error is a sentence for the user.
tl::expected<Options, std::string> parseOptions(const std::vector<std::string>& arguments);
/// What `whichlock --help` prints.
std::string helpText();

} // namespace whichlock::cli
