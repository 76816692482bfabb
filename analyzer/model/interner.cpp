// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/model/interner.h"

#include <algorithm>

namespace whichlock {

StringId StringInterner::intern(std::string_view text)
{
    if (text.empty())
        return {};
    const uint64_t hash = hashText(text);
    if (const uint32_t found = index_.find(hash, [&](uint32_t at) { return rows_[at - 1] == text; }))
        return {found};
    rows_.push_back(store(text));
    index_.insert(hash, static_cast<uint32_t>(rows_.size()));
    return {static_cast<uint32_t>(rows_.size())};
}

std::string_view StringInterner::store(std::string_view text)
{
    constexpr size_t kBlockBytes = 64 * 1024;
    if (text.size() > blockLeft_) {
        blockLeft_ = std::max(text.size(), kBlockBytes);
        blocks_.push_back(std::make_unique<char[]>(blockLeft_));
        blockAt_ = blocks_.back().get();
    }
    char* const at = blockAt_;
    std::copy(text.begin(), text.end(), at);
    blockAt_ += text.size();
    blockLeft_ -= text.size();
    return {at, text.size()};
}

} // namespace whichlock
