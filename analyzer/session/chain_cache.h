// SPDX-License-Identifier: GPL-3.0-or-later
// From call chains as they were recorded to stacks: most chains came before as a whole, and most of the
// others are made of a kernel and a user part that both did.
#pragma once

#include "analyzer/model/interner.h"

#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whichlock {

using AddressStackId = Id<struct AddressStackTag>;

/// A table of fixed size; what does not fit is forgotten. Each key has two places: chains that come by turns
/// must not push each other out. MT: one thread.
class ChainCache {
public:
    struct Key {
        std::string_view bytes{};   ///< of the entries
        uint64_t version = 0;       ///< of the mappings that they lie in
        uint64_t kernelVersion = 0; ///< the same of the kernel, for chains of several modes
        AddressStackId caller{};    ///< what they stand on
        uint32_t mode = 0;          ///< where chains of several modes begin

        bool operator==(const Key&) const = default;
    };

    ChainCache()
        : slots_(kSlots)
    {
    }

    /// Four words at a time that do not wait for each other: this is most of what a known chain costs.
    static uint64_t hashOf(const Key& key)
    {
        constexpr uint64_t kFactor = 0x9fb21c651e98df25ULL;
        uint64_t lanes[4] = {key.version, static_cast<uint64_t>(key.mode) << 32U | key.caller.v,
            key.bytes.size(), 0x9e3779b97f4a7c15ULL + key.kernelVersion};
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
    /// The stack of this chain, or none when it is not known (any more).
    AddressStackId find(const Key& key, uint64_t hash) const
    {
        const Slot* const pair = &slots_[pairOf(hash)];
        for (size_t i = 0; i < 2; ++i) {
            const Slot& slot = pair[i];
            if (slot.stack && slot.hash == hash && slot.key(slot.bytes) == key)
                return slot.stack;
        }
        return {};
    }
    void remember(const Key& key, uint64_t hash, AddressStackId stack)
    {
        if (key.bytes.size() > kMostBytes)
            return;
        Slot* const pair = &slots_[pairOf(hash)];
        std::swap(pair[0], pair[1]); // the older one goes
        Slot& slot = pair[0];
        slot.hash = hash;
        slot.stack = stack;
        slot.version = key.version;
        slot.kernelVersion = key.kernelVersion;
        slot.caller = key.caller;
        slot.mode = key.mode;
        slot.bytes = key.bytes;
    }

private:
    static constexpr size_t kSlots = 1U << 12U;
    static constexpr size_t kMostBytes = 2048; ///< twice what kernels record unless they are told to

    struct Slot {
        uint64_t hash = 0;
        AddressStackId stack{};
        AddressStackId caller{};
        uint64_t version = 0;
        uint64_t kernelVersion = 0;
        uint32_t mode = 0;
        std::string bytes{};

        Key key(std::string_view ofBytes) const { return {ofBytes, version, kernelVersion, caller, mode}; }
    };

    static size_t pairOf(uint64_t hash) { return hash % (kSlots / 2) * 2; }

    std::vector<Slot> slots_;
};

} // namespace whichlock
