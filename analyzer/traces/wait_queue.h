// SPDX-License-Identifier: GPL-3.0-or-later
// Who waits, and since when, in the order of time: mostly a few, who come at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace whichlock {

/// Begins of waits with their threads; equal ones may be in it several times. Few are an array, many a tree.
/// MT: one thread.
class WaitQueue {
public:
    struct Wait {
        uint64_t beganNs = 0;
        int32_t thread = 0;
        bool counted = true; ///< the question is about it; no part of the order

        friend auto operator<=>(const Wait& a, const Wait& b)
        {
            return std::pair(a.beganNs, a.thread) <=> std::pair(b.beganNs, b.thread);
        }
        friend bool operator==(const Wait& a, const Wait& b)
        {
            return a.beganNs == b.beganNs && a.thread == b.thread;
        }
    };

    void add(Wait wait);
    /// Takes one such wait out; false when there is none.
    bool remove(Wait wait);
    void clear();

    size_t size() const { return few_.size() + many_.size(); }
    bool empty() const { return few_.empty() && many_.empty(); }
    /// The oldest one, of some.
    const Wait& first() const { return many_.empty() ? few_.front() : *many_.begin(); }

    /// Goes over the waits, oldest first. Valid until the queue changes.
    class Walk {
    public:
        explicit Walk(const WaitQueue& queue)
            : queue_(queue)
            , tree_(queue.many_.begin())
        {
        }
        /// Null at the end.
        const Wait* current() const
        {
            if (at_ < queue_.few_.size())
                return &queue_.few_[at_];
            return tree_ != queue_.many_.end() ? &*tree_ : nullptr;
        }
        void next()
        {
            if (at_ < queue_.few_.size())
                ++at_;
            else
                ++tree_;
        }

    private:
        const WaitQueue& queue_;
        size_t at_ = 0;
        std::multiset<Wait>::const_iterator tree_;
    };

    /// More than these are a tree; those of a tree are an array again at a quarter of it.
    static constexpr size_t kFew = 128;

private:
    std::vector<Wait> few_;    ///< ascending; empty when there are many
    std::multiset<Wait> many_; ///< empty when there are few
};

} // namespace whichlock
