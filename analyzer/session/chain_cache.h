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
        uint64_t a = key.version;
        uint64_t b = static_cast<uint64_t>(key.mode) << 32U | key.caller.v;
        uint64_t c = key.bytes.size();
        uint64_t d = 0x9e3779b97f4a7c15ULL + key.kernelVersion;
        const char* at = key.bytes.data();
        size_t left = key.bytes.size();
        for (; left >= 4 * kWord; at += 4 * kWord, left -= 4 * kWord) {
            a = taken(a, at, kWord);
            b = taken(b, at + kWord, kWord);
            c = taken(c, at + 2 * kWord, kWord);
            d = taken(d, at + 3 * kWord, kWord);
        }
        for (; left >= kWord; at += kWord, left -= kWord)
            a = taken(a, at, kWord);
        if (left > 0)
            b = taken(b, at, left);
        return mixBits(mixBits(a + std::rotl(b, 17)) ^ (c + std::rotl(d, 31)));
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

    static constexpr size_t kWord = sizeof(uint64_t);

    static uint64_t taken(uint64_t lane, const char* at, size_t bytes)
    {
        uint64_t word = 0;
        std::memcpy(&word, at, bytes);
        return (std::rotl(lane, 23) ^ word) * 0x9fb21c651e98df25ULL;
    }
    static size_t pairOf(uint64_t hash) { return hash % (kSlots / 2) * 2; }

    std::vector<Slot> slots_;
};

} // namespace whichlock
