// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/wait_queue.h"

#include <algorithm>

namespace whichlock {

void WaitQueue::add(Wait wait)
{
    if (!many_.empty()) {
        many_.insert(many_.end(), wait);
        return;
    }
    if (few_.size() == kFew) {
        many_.insert(few_.begin(), few_.end());
        few_.clear();
        many_.insert(wait);
        return;
    }
    if (few_.empty() || few_.back() <= wait)
        few_.push_back(wait);
    else
        few_.insert(std::upper_bound(few_.begin(), few_.end(), wait), wait);
}

bool WaitQueue::remove(Wait wait)
{
    if (many_.empty()) {
        const auto at = std::lower_bound(few_.begin(), few_.end(), wait);
        if (at == few_.end() || *at != wait)
            return false;
        few_.erase(at);
        return true;
    }
    const auto at = many_.find(wait);
    if (at == many_.end())
        return false;
    many_.erase(at);
    if (many_.size() <= kFew / 4) {
        few_.assign(many_.begin(), many_.end());
        many_.clear();
    }
    return true;
}

void WaitQueue::clear()
{
    few_.clear();
    many_.clear();
}

} // namespace whichlock
