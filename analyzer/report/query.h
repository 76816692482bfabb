// SPDX-License-Identifier: GPL-3.0-or-later
// What is asked of a profile: which samples, and what the main table is about. The command line parses it,
// the window edits it; both go through here, so that they mean the same.
#pragma once

#include "analyzer/model/sample_filter.h"

#include <string>
#include <string_view>
#include <vector>

namespace whichlock {

/// What the rows of the main table are.
enum class GroupBy : uint8_t { Lock, Site, Holder, Thread, Comm, Process, Cpu, Symbol };

struct Query {
    size_t topSymbols = 10;
    SampleFilter filter{}; ///< applied while reading, see selectionOf()
    std::string focus{};   ///< RE2; only stacks with a function that it is found in. Empty = all
    GroupBy by = GroupBy::Lock;
    std::string lock{}; ///< shown in depth: locks with this in their name, or with this address or number
    bool holds = false; ///< how long locks were held is shown, where that was recorded

    /// Whether it is about a part of the samples only.
    bool narrows() const { return !filter.empty() || !focus.empty(); }
};

/// A question as a user writes it, option by option.
struct QueryTexts {
    std::optional<std::string> by{};
    std::optional<std::string> time{};
    std::vector<std::string> threads{}; ///< each may be a list with commas
    std::vector<std::string> processes{};
    std::vector<std::string> cpus{};
    std::string focus{};
    std::string lock{};
    bool holds = false;
};

/// The error is a sentence for the user.
tl::expected<Query, std::string> parseQuery(const QueryTexts& texts);

/// `thread`, as --by takes it.
std::string_view groupByName(GroupBy by);
/// All of them: `lock, site, ...`.
std::string groupByNames();

/// What loading has to keep and to tell apart, so that the question can be answered.
RecordingOptions selectionOf(const Query& query);
/// The options that ask this question: `--by`, `thread`, ...
std::vector<std::string> argumentsOf(const Query& query);
/// What a question leaves, in words: `process mysqld, CPU 0-3`. Empty if it leaves everything.
std::string filterText(const Query& query);
/// A word as a shell takes it.
std::string shellQuoted(const std::string& word);

} // namespace whichlock
