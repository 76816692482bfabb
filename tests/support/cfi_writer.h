// SPDX-License-Identifier: GPL-3.0-or-later
// Writes call frame information byte by byte.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace whichlock::test {

/// Bytes in little endian order.
class Bytes {
public:
    Bytes& u8(uint64_t value) { return integer(value, 1); }
    Bytes& u16(uint64_t value) { return integer(value, 2); }
    Bytes& u32(uint64_t value) { return integer(value, 4); }
    Bytes& u64(uint64_t value) { return integer(value, 8); }
    Bytes& uleb(uint64_t value)
    {
        for (; value >= 0x80; value >>= 7U)
            u8((value & 0x7fU) | 0x80U);
        return u8(value);
    }
    Bytes& sleb(int64_t value)
    {
        for (; value < -64 || value > 63; value >>= 7U)
            u8((static_cast<uint64_t>(value) & 0x7fU) | 0x80U);
        return u8(static_cast<uint64_t>(value) & 0x7fU);
    }
    Bytes& text(const std::string& bytes)
    {
        bytes_ += bytes;
        return *this;
    }
    /// A length in front of it.
    Bytes& block(const std::string& bytes) { return uleb(bytes.size()).text(bytes); }

    const std::string& str() const { return bytes_; }

private:
    Bytes& integer(uint64_t value, unsigned size)
    {
        for (unsigned i = 0; i < size; ++i)
            bytes_ += static_cast<char>(value >> (8 * i) & 0xffU);
        return *this;
    }

    std::string bytes_;
};

/// An .eh_frame (addresses relative to their place, 32 bits) or a .debug_frame (addresses of 64 bits).
class CfiWriter {
public:
    static constexpr uint64_t kSectionAddress = 0x100000;

    explicit CfiWriter(bool debugFrame = false)
        : debugFrame_(debugFrame)
    {
    }

    /// Adds a CIE that the following ranges have in common. Alignments 1 and -8, as on x86_64.
    void common(const std::string& program, bool signalFrame = false, uint64_t returnColumn = 16,
        uint64_t codeAlignment = 1)
    {
        common_ = section_.size();
        Bytes body;
        body.u32(debugFrame_ ? UINT32_MAX : 0).u8(1);
        body.text(debugFrame_ ? "" : signalFrame ? "zRS" : "zR").u8(0);
        body.uleb(codeAlignment).sleb(-8).u8(returnColumn);
        if (!debugFrame_)
            body.block("\x1b");
        append(body.text(program).str());
    }

    void range(uint64_t start, uint64_t length, const std::string& program)
    {
        Bytes body;
        const uint64_t idAt = section_.size() + 4;
        if (debugFrame_)
            body.u32(common_).u64(start).u64(length);
        else
            body.u32(idAt - common_).u32(start - (kSectionAddress + idAt + 4)).u32(length).u8(0);
        starts_.push_back(start);
        offsets_.push_back(section_.size());
        append(body.text(program).str());
    }

    const std::string& section() const { return section_; }

    /// An .eh_frame_hdr at this address; ranges must have been added by address.
    std::string header(uint64_t address) const
    {
        Bytes bytes;
        bytes.u8(1).u8(0x1b).u8(0x03).u8(0x3b).u32(kSectionAddress - (address + 4)).u32(starts_.size());
        for (size_t i = 0; i < starts_.size(); ++i)
            bytes.u32(starts_[i] - address).u32(kSectionAddress + offsets_[i] - address);
        return bytes.str();
    }

private:
    void append(std::string body)
    {
        body.resize((body.size() + 7) / 8 * 8, '\0'); // nops
        section_ += Bytes().u32(body.size()).text(body).str();
    }

    bool debugFrame_;
    std::string section_;
    uint64_t common_ = 0;
    std::vector<uint64_t> starts_;
    std::vector<uint64_t> offsets_;
};

} // namespace whichlock::test
