// SPDX-License-Identifier: GPL-3.0-or-later
// From pieces of call chains as they were recorded to stacks: most chains are made of a kernel and a user
// part that both came before.
#pragma once

#include "analyzer/model/interner.h"

#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock {

using AddressStackId = Id<struct AddressStackTag>;

/// A table of fixed size; what does not fit is forgotten. MT: one thread.
class ChainCache {
public:
    struct Key {
        std::string_view bytes{}; ///< of the entries, all in one mode
        uint64_t version = 0;     ///< of the mappings that they lie in
        AddressStackId caller{};  ///< what they stand on
    };

    ChainCache()
        : slots_(kSlots)
    {
    }

    /// Four words at a time that do not wait for each other: this is most of what a known chain costs.
    static uint64_t hashOf(const Key& key)
    {
        constexpr uint64_t kFactor = 0x9fb21c651e98df25ULL;
        uint64_t lanes[4] = {key.version, key.caller.v, key.bytes.size(), 0x9e3779b97f4a7c15ULL};
        const char* at = key.bytes.data();
        size_t left = key.bytes.size();
        for (; left >= sizeof lanes; at += sizeof lanes, left -= sizeof lanes) {
            uint64_t words[4];
            std::memcpy(words, at, sizeof words);
            for (size_t i = 0; i < 4; ++i)
                lanes[i] = (std::rotl(lanes[i], 23) ^ words[i]) * kFactor;
        }
        uint64_t words[4] = {};
        std::memcpy(words, at, left);
        for (size_t i = 0; i < 4; ++i)
            lanes[i] = (std::rotl(lanes[i], 23) ^ words[i]) * kFactor;
        return mixBits(mixBits(lanes[0] + std::rotl(lanes[1], 17)) ^ (lanes[2] + std::rotl(lanes[3], 31)));
    }
    /// The stack of this piece, or none when it is not known (any more).
    AddressStackId find(const Key& key, uint64_t hash) const
    {
        const Slot& slot = slots_[hash % kSlots];
        const bool same = slot.stack && slot.hash == hash && slot.version == key.version
            && slot.caller == key.caller && slot.bytes == key.bytes;
        return same ? slot.stack : AddressStackId{};
    }
    void remember(const Key& key, uint64_t hash, AddressStackId stack)
    {
        if (key.bytes.size() > kMostBytes)
            return;
        Slot& slot = slots_[hash % kSlots];
        slot.hash = hash;
        slot.version = key.version;
        slot.caller = key.caller;
        slot.stack = stack;
        slot.bytes = key.bytes;
    }

private:
    static constexpr size_t kSlots = 1U << 13U;
    static constexpr size_t kMostBytes = 2048; ///< twice what kernels record unless they are told to

    struct Slot {
        uint64_t hash = 0;
        uint64_t version = 0;
        AddressStackId caller{};
        AddressStackId stack{};
        std::string bytes{};
    };

    std::vector<Slot> slots_;
};

} // namespace whichlock
