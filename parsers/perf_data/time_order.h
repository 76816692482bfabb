// SPDX-License-Identifier: GPL-3.0-or-later
// Brings the records of a recording into the order of time. Each processor has a buffer of its own, so that
// the file holds what came later before what came earlier; marks in it say how far that can go.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace whichlock {

/// Holds items back until no earlier one can come. Items of one time keep the order in which they came.
/// What comes is ascending in runs, one a buffer: the runs are merged, nothing is sorted.
/// Consumers take (time, item).
/// MT: one thread.
template <class Item> class TimeOrder {
public:
    void add(uint64_t time, const Item& item)
    {
        if (entries_.empty() || time < entries_.back().time)
            runs_.push_back({entries_.size(), 0});
        entries_.push_back({time, item});
        newest_ = std::max(newest_, time);
    }

    /// A mark: all that comes is newer than the newest item before the previous mark.
    template <class Consumer> void roundEnded(Consumer&& consume)
    {
        releaseUpTo(newestOfLastRound_, consume);
        newestOfLastRound_ = newest_;
    }

    template <class Consumer> void releaseAll(Consumer&& consume) { releaseUpTo(UINT64_MAX, consume); }

    size_t held() const { return entries_.size(); }

private:
    struct Entry {
        uint64_t time = 0;
        Item item{};
    };
    struct Run {
        size_t at = 0;
        size_t end = 0;
    };

    template <class Consumer> void releaseUpTo(uint64_t last, Consumer& consume)
    {
        for (size_t i = 0; i < runs_.size(); ++i)
            runs_[i].end = i + 1 < runs_.size() ? runs_[i + 1].at : entries_.size();
        merge(last, consume);
        compact();
    }

    /// Always takes from the run with the earliest item, and of those from the one that came first, as long
    /// as no other run comes before it.
    template <class Consumer> void merge(uint64_t last, Consumer& consume)
    {
        const auto later = [this](size_t a, size_t b) {
            const uint64_t timeOfA = entries_[runs_[a].at].time;
            const uint64_t timeOfB = entries_[runs_[b].at].time;
            return timeOfA != timeOfB ? timeOfA > timeOfB : a > b;
        };
        waiting_.clear();
        for (size_t i = 0; i < runs_.size(); ++i)
            if (entries_[runs_[i].at].time <= last)
                waiting_.push_back(i);
        std::make_heap(waiting_.begin(), waiting_.end(), later);
        while (!waiting_.empty()) {
            std::pop_heap(waiting_.begin(), waiting_.end(), later);
            const size_t taken = waiting_.back();
            waiting_.pop_back();
            Run& run = runs_[taken];
            do {
                const Entry& entry = entries_[run.at++];
                consume(entry.time, entry.item);
            } while (run.at < run.end && entries_[run.at].time <= last
                && (waiting_.empty() || !later(taken, waiting_.front())));
            if (run.at < run.end && entries_[run.at].time <= last) {
                waiting_.push_back(taken);
                std::push_heap(waiting_.begin(), waiting_.end(), later);
            }
        }
    }

    /// Moves what is left of the runs to the front.
    void compact()
    {
        size_t filled = 0;
        size_t kept = 0;
        for (const Run run : runs_) {
            if (run.at == run.end)
                continue;
            const bool goesOn = filled != 0 && entries_[filled - 1].time <= entries_[run.at].time;
            if (!goesOn)
                runs_[kept++] = {filled, 0};
            for (size_t at = run.at; at < run.end; ++at)
                entries_[filled++] = entries_[at];
        }
        entries_.resize(filled);
        runs_.resize(kept);
    }

    std::vector<Entry> entries_;
    std::vector<Run> runs_; ///< ascending pieces of entries_; their ends are set when they are merged
    std::vector<size_t> waiting_;
    uint64_t newest_ = 0;
    uint64_t newestOfLastRound_ = 0;
};

} // namespace whichlock
