// SPDX-License-Identifier: GPL-3.0-or-later
// From whole call chains as they were recorded to stacks: most samples have a chain that came before.
#pragma once

#include "analyzer/model/interner.h"
#include "analyzer/symbols/address_space.h"

#include <string>
#include <string_view>
#include <vector>

namespace whichlock {

using AddressStackId = Id<struct AddressStackTag>;

/// A table of fixed size; what does not fit is forgotten. MT: one thread.
class ChainCache {
public:
    struct Key {
        std::string_view bytes{}; ///< of the chain
        AddressMode mode = AddressMode::User;
        uint64_t userVersion = 0; ///< of the mappings that the addresses lie in
        uint64_t kernelVersion = 0;
    };

    ChainCache()
        : slots_(kSlots)
    {
    }

    static uint64_t hashOf(const Key& key)
    {
        return mixBits(hashText(key.bytes) + key.userVersion * 0x9e3779b97f4a7c15ULL
            + (key.kernelVersion << 2) + static_cast<uint64_t>(key.mode));
    }
    /// The stack of this chain, or none when it is not known (any more).
    AddressStackId find(const Key& key, uint64_t hash) const
    {
        const Slot& slot = slots_[hash % kSlots];
        const bool same = slot.stack && slot.hash == hash && slot.userVersion == key.userVersion
            && slot.kernelVersion == key.kernelVersion && slot.mode == key.mode && slot.bytes == key.bytes;
        return same ? slot.stack : AddressStackId{};
    }
    void remember(const Key& key, uint64_t hash, AddressStackId stack)
    {
        if (key.bytes.size() > kMostBytes)
            return;
        Slot& slot = slots_[hash % kSlots];
        slot.hash = hash;
        slot.userVersion = key.userVersion;
        slot.kernelVersion = key.kernelVersion;
        slot.mode = key.mode;
        slot.stack = stack;
        slot.bytes = key.bytes;
    }

private:
    static constexpr size_t kSlots = 1U << 13U;
    static constexpr size_t kMostBytes = 2048; ///< twice what kernels record unless they are told to

    struct Slot {
        uint64_t hash = 0;
        uint64_t userVersion = 0;
        uint64_t kernelVersion = 0;
        AddressMode mode = AddressMode::User;
        AddressStackId stack{};
        std::string bytes{};
    };

    std::vector<Slot> slots_;
};

} // namespace whichlock
