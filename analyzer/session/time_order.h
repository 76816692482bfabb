// SPDX-License-Identifier: GPL-3.0-or-later
// Brings the records of a recording into the order of time. Each processor has a buffer of its own, so that
// the file holds what came later before what came earlier; marks in it say how far that can go.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace whichlock {

/// Holds items back until no earlier one can come. Items of one time keep the order in which they came.
/// MT: one thread.
template <class Item> class TimeOrder {
public:
    /// Files without marks are let go in pieces of this many items.
    static constexpr size_t kMostHeld = 4'000'000;

    template <class Consumer> void add(uint64_t time, Item item, Consumer&& consume)
    {
        held_.emplace_back(time, std::move(item));
        newest_ = std::max(newest_, time);
        if (held_.size() >= kMostHeld)
            releaseUpTo(newest_, consume);
    }

    /// A mark: all that comes is newer than the newest item before the previous mark.
    template <class Consumer> void roundEnded(Consumer&& consume)
    {
        releaseUpTo(newestOfLastRound_, consume);
        newestOfLastRound_ = newest_;
    }

    template <class Consumer> void releaseAll(Consumer&& consume) { releaseUpTo(UINT64_MAX, consume); }

    size_t held() const { return held_.size(); }

private:
    template <class Consumer> void releaseUpTo(uint64_t last, Consumer&& consume)
    {
        std::stable_sort(
            held_.begin(), held_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        const auto end =
            std::find_if(held_.begin(), held_.end(), [&](const auto& item) { return item.first > last; });
        for (auto at = held_.begin(); at != end; ++at)
            consume(at->second);
        held_.erase(held_.begin(), end);
    }

    std::vector<std::pair<uint64_t, Item>> held_;
    uint64_t newest_ = 0;
    uint64_t newestOfLastRound_ = 0;
};

} // namespace whichlock
