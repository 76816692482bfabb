// SPDX-License-Identifier: GPL-3.0-or-later
// What the prose around a table says about it: its caption, heading and command line.
#pragma once

#include "parsers/input/text_cursor.h"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace whichlock {

/// Follows the lines of a text that belong to no table. MT: one thread.
class Surroundings {
public:
    /// A line of prose, in order.
    void prose(const TextLine& line);
    /// A table ends: captions and commands before it are used up, headings stay.
    void tableEnded();

    /// The caption of the next table: a short line that ends in a colon or stands alone. May be empty.
    std::string title() const;
    /// The last `=== heading ===`; holds for all that follows. May be empty.
    const std::string& heading() const { return heading_; }
    /// The paragraph right above the next table, its lines joined by blanks (long lines are cut). May be
    /// empty.
    std::string paragraphAbove() const;
    /// The command line printed above the next table. May be empty.
    const std::string& command() const { return command_; }

private:
    static constexpr size_t kLinesKept = 12;

    std::deque<std::string> recent_; ///< the last lines, blank ones included
    std::string heading_;
    std::string command_;
};

/// What formats remember from one block of a text to the next.
struct DocumentMemory {
    /// Column names of the last vmstat block, for a block that has no header of its own.
    std::vector<std::string> vmstatColumns;
};

/// The text inside `=== text ===` and its like, or empty when the line is no such heading.
std::string_view decoratedHeading(std::string_view line);
/// The command in `[root@host dir]# command`, `$ command`; empty when the line is no prompt.
std::string_view promptedCommand(std::string_view line);
/// Whether the line is a rule of dashes or the like.
bool isRule(std::string_view line);

} // namespace whichlock
