// SPDX-License-Identifier: GPL-3.0-or-later
// The header words and single rows of vmstat. Pure functions on strings.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock::vmstat {

/// The counters of a block, from left to right, in the words of the header.
struct Columns {
    std::vector<std::string> words;
    size_t cpuBegin = 0;    ///< index of `us`; the rest of the columns are parts of 100 %
    bool timestamp = false; ///< a time zone closes the header: rows end in date and time (-t)

    /// The header is not cut: then the first row is the mean since boot.
    bool hasProcs() const;
};

/// The columns that a list of header words names. Empty when it is no vmstat header.
std::optional<Columns> columnsOf(const std::vector<std::string_view>& words);
/// The columns of remembered words.
std::optional<Columns> columnsOf(const std::vector<std::string>& words);
/// Whether every word may stand in a header, so that the line can be a piece of a wrapped one.
bool areHeaderWords(const std::vector<std::string_view>& words);
/// The line above the header: `procs --memory-- ---swap-- ---io--- -system- ---cpu---`, or a part of it.
bool isGroupLine(std::string_view line);
/// The system whose vmstat header this is, if it is one that is not read: `Solaris`, `AIX`, `HP-UX`.
std::string_view foreignSystem(const std::vector<std::string_view>& words);
/// The line above the header of Solaris and AIX: `kthr memory page ...`.
bool isForeignGroupLine(std::string_view line);

/// What a line has as a row of `fields` counters.
struct RowTokens {
    std::vector<std::string_view> values; ///< at most as many as there are columns
    bool foreign = false;                 ///< something stands in it that is no counter
    bool remark = false;                  ///< words follow behind the last counter
};

RowTokens rowTokens(std::string_view line, size_t fields);

/// A counter; memory of newer FreeBSD (`514G`) in kilobytes. Empty when it does not fit into 63 bits.
std::optional<int64_t> counterOf(std::string_view token);

/// Whether the CPU columns, the last of `values`, add up to 100 % within rounding.
bool cpuAddsUp(std::span<const std::string_view> values, size_t cpuColumns);

/// The columns of Linux that rows without any header have, judged by their number and the CPU columns;
/// empty when several or none fit.
std::optional<Columns> guessColumns(const std::vector<std::vector<std::string_view>>& rows);

} // namespace whichlock::vmstat
