// SPDX-License-Identifier: GPL-3.0-or-later
// Canonical order: tables are sorted by content, never by the order in which the rows happened to come.
#include "analyzer/model/profile_builder.h"

#include <algorithm>
#include <numeric>

namespace whichlock {
namespace {

/// Old row number -> new one after sorting row numbers 1..count with `less`; index 0 stays 0.
template <class Less> std::vector<uint32_t> ranks(uint32_t count, Less less)
{
    std::vector<uint32_t> order(count);
    std::iota(order.begin(), order.end(), 1U);
    std::sort(order.begin(), order.end(), less);
    std::vector<uint32_t> rank(count + 1);
    for (uint32_t i = 0; i < count; ++i)
        rank[order[i]] = i + 1;
    return rank;
}

/// Puts rows at their new numbers.
template <class Row>
std::vector<Row> reordered(const std::vector<Row>& rows, const std::vector<uint32_t>& rank)
{
    std::vector<Row> result(rows.size());
    for (uint32_t i = 0; i < rows.size(); ++i)
        result[rank[i + 1] - 1] = rows[i];
    return result;
}

/// New numbers for stacks whose frames already have theirs: depth first, siblings by frame, so that parents
/// stand before their children.
std::vector<uint32_t> stackRanks(const std::vector<Stack>& stacks)
{
    const auto count = static_cast<uint32_t>(stacks.size());
    std::vector<uint32_t> byParent(count);
    std::iota(byParent.begin(), byParent.end(), 1U);
    std::sort(byParent.begin(), byParent.end(),
        [&](uint32_t a, uint32_t b) { return stacks[a - 1] < stacks[b - 1]; });
    std::vector<uint32_t> firstChild(count + 2, count);
    for (uint32_t i = count; i-- > 0;)
        firstChild[stacks[byParent[i] - 1].parent.v] = i;
    const auto pushChildren = [&](uint32_t parent, std::vector<uint32_t>& pending) {
        uint32_t end = firstChild[parent];
        while (end < count && stacks[byParent[end] - 1].parent.v == parent)
            ++end;
        for (uint32_t i = end; i-- > firstChild[parent];)
            pending.push_back(byParent[i]);
    };
    std::vector<uint32_t> rank(count + 1);
    std::vector<uint32_t> pending;
    pushChildren(0, pending);
    for (uint32_t next = 1; !pending.empty(); ++next) {
        const uint32_t stack = pending.back();
        pending.pop_back();
        rank[stack] = next;
        pushChildren(stack, pending);
    }
    return rank;
}

} // namespace

Profile ProfileBuilder::freeze()
{
    Profile profile;
    const auto stringRank =
        ranks(strings_.size(), [&](uint32_t a, uint32_t b) { return strings_[{a}] < strings_[{b}]; });
    profile.strings_.resize(strings_.size());
    for (uint32_t i = 1; i <= strings_.size(); ++i)
        profile.strings_[stringRank[i] - 1] = strings_[{i}];

    std::vector<Frame> frames = frames_.rows();
    for (Frame& frame : frames) {
        frame.symbol.v = stringRank[frame.symbol.v];
        frame.object.v = stringRank[frame.object.v];
        frame.lock.v = stringRank[frame.lock.v];
        frame.lockExpression.v = stringRank[frame.lockExpression.v];
    }
    const auto frameRank = ranks(static_cast<uint32_t>(frames.size()),
        [&](uint32_t a, uint32_t b) { return frames[a - 1] < frames[b - 1]; });
    profile.frames_ = reordered(frames, frameRank);

    std::vector<Stack> stacks = stacks_.rows();
    for (Stack& stack : stacks)
        stack.frame.v = frameRank[stack.frame.v];
    const auto stackRank = stackRanks(stacks);
    for (Stack& stack : stacks)
        stack.parent.v = stackRank[stack.parent.v];
    profile.stacks_ = reordered(stacks, stackRank);

    std::vector<ThreadGroup> groups = groups_.rows();
    for (ThreadGroup& group : groups)
        group.comm.v = stringRank[group.comm.v];
    const auto groupRank = ranks(static_cast<uint32_t>(groups.size()),
        [&](uint32_t a, uint32_t b) { return groups[a - 1] < groups[b - 1]; });
    profile.groups_ = reordered(groups, groupRank);

    for (uint32_t i = 0; i < cells_.size(); ++i) {
        Cell cell = cells_[i];
        cell.stack.v = stackRank[cell.stack.v];
        cell.group.v = groupRank[cell.group.v];
        sections_[cellKeys_.rows()[i].section].cells.push_back(cell);
    }
    for (Section& section : sections_) {
        std::sort(section.cells.begin(), section.cells.end(), [](const Cell& a, const Cell& b) {
            return std::tie(a.stack, a.group, a.phase) < std::tie(b.stack, b.group, b.phase);
        });
        std::sort(section.facts.begin(), section.facts.end());
    }
    for (const auto& [key, index] : sectionIndex_)
        profile.sections.push_back(std::move(sections_[index]));
    for (InputInfo& input : inputs_)
        std::sort(input.facts.begin(), input.facts.end());
    std::sort(scores_.begin(), scores_.end(), [](const ScoreRecord& a, const ScoreRecord& b) {
        return std::tie(a.position, a.name, a.value, a.unit, a.heading)
            < std::tie(b.position, b.name, b.value, b.unit, b.heading);
    });
    std::sort(diagnostics_.begin(), diagnostics_.end(), [](const Diagnostic& a, const Diagnostic& b) {
        return std::tie(a.position, a.code, a.message) < std::tie(b.position, b.code, b.message);
    });
    profile.inputs = std::move(inputs_);
    profile.scores = std::move(scores_);
    profile.diagnostics = std::move(diagnostics_);
    *this = ProfileBuilder();
    return profile;
}

} // namespace whichlock
