// SPDX-License-Identifier: GPL-3.0-or-later
// BTF that is written by hand.
#pragma once

#include "analyzer/naming/btf_types.h"

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace whichlock::test {

/// Writes BTF. Ids count from 1.
class BtfWriter {
public:
    uint32_t add(BtfKind kind, const std::string& name, uint32_t sizeOrType, std::vector<uint32_t> tail = {},
        uint32_t count = 0)
    {
        for (const uint32_t word : {nameOf(name), static_cast<uint32_t>(kind) << 24 | count, sizeOrType})
            put(types_, word);
        for (const uint32_t word : tail)
            put(types_, word);
        return ++last_;
    }
    uint32_t nameOf(const std::string& name)
    {
        if (name.empty())
            return 0;
        const auto at = static_cast<uint32_t>(text_.size());
        text_ += name + '\0';
        return at;
    }
    uint32_t structure(const std::string& name, uint32_t bytes,
        const std::vector<std::tuple<std::string, uint32_t, uint32_t>>& members)
    {
        std::vector<uint32_t> tail;
        for (const auto& [member, type, offset] : members)
            tail.insert(tail.end(), {nameOf(member), type, offset * 8});
        return add(BtfKind::Struct, name, bytes, tail, static_cast<uint32_t>(members.size()));
    }
    uint32_t function(
        const std::string& name, const std::vector<std::pair<std::string, uint32_t>>& parameters)
    {
        std::vector<uint32_t> tail;
        for (const auto& [parameter, type] : parameters)
            tail.insert(tail.end(), {nameOf(parameter), type});
        const uint32_t prototype =
            add(BtfKind::Prototype, "", 0, tail, static_cast<uint32_t>(parameters.size()));
        return add(BtfKind::Function, name, prototype);
    }
    std::vector<uint8_t> bytes() const
    {
        std::vector<uint8_t> all = {0x9f, 0xeb, 1, 0};
        for (const size_t word : {size_t{24}, size_t{0}, types_.size(), types_.size(), text_.size()})
            put(all, static_cast<uint32_t>(word));
        all.insert(all.end(), types_.begin(), types_.end());
        all.insert(all.end(), text_.begin(), text_.end());
        return all;
    }

private:
    static void put(std::vector<uint8_t>& to, uint32_t word)
    {
        for (unsigned shift = 0; shift < 32; shift += 8)
            to.push_back(static_cast<uint8_t>(word >> shift));
    }

    std::vector<uint8_t> types_;
    std::string text_ = std::string(1, '\0');
    uint32_t last_ = 0;
};

/// The types of tests/fixtures/locks/kernel_sites.cpp, with its layout by hand.
inline std::vector<uint8_t> btfOfSmallKernel()
{
    BtfWriter btf;
    const uint32_t word = btf.add(BtfKind::Int, "unsigned int", 4, {32});
    const uint32_t number = btf.add(BtfKind::Int, "long", 8, {64});
    const uint32_t raw = btf.structure("raw_spinlock", 4, {{"value", word, 0}});
    const uint32_t spin = btf.structure("spinlock", 4, {{"rlock", raw, 0}});
    const uint32_t mutex = btf.structure("mutex", 16, {{"owner", number, 0}, {"wait_lock", raw, 8}});
    const uint32_t rwsem = btf.structure("rw_semaphore", 16, {{"count", number, 0}, {"wait_lock", raw, 8}});
    const uint32_t inode =
        btf.structure("inode", 32, {{"i_state", number, 0}, {"i_lock", spin, 8}, {"i_rwsem", rwsem, 16}});
    const uint32_t inodePointer = btf.add(BtfKind::Pointer, "", inode);
    const uint32_t file = btf.structure("file", 24, {{"f_inode", inodePointer, 0}, {"f_pos_lock", mutex, 8}});
    const uint32_t filePointer = btf.add(BtfKind::Pointer, "", file);
    btf.function("iget", {{"inode", inodePointer}});
    btf.function("do_unlinkat", {{"file", filePointer}});
    const uint32_t rq = btf.structure("rq", 8, {{"lock", raw, 0}, {"nr_running", word, 4}});
    const uint32_t runqueues = btf.add(BtfKind::Variable, "runqueues", rq, {1});
    constexpr uint32_t kBehindOffsetAndPadding = 0x1008;
    btf.add(BtfKind::DataSection, ".data..percpu", 0x1010, {runqueues, kBehindOffsetAndPadding, 8}, 1);
    return btf.bytes();
}

} // namespace whichlock::test
