// SPDX-License-Identifier: GPL-3.0-or-later
// The one interner: rows in a column, found again through a hash index of row numbers. Whole rows are
// compared; the hash only finds the bucket, so that equal hashes can never merge different rows.
#pragma once

#include "analyzer/model/ids.h"

#include <bit>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace whichlock {

/// Mixes 64 bits so that the low ones can index a table of a power of two.
inline uint64_t mixBits(uint64_t value)
{
    value ^= value >> 32;
    value *= 0x9e3779b97f4a7c15ULL;
    value ^= value >> 29;
    value *= 0xbf58476d1ce4e5b9ULL;
    return value ^ (value >> 32);
}

/// A hash of text, eight bytes at a time: the hash of names is what reading long stacks spends its time on.
inline uint64_t hashText(std::string_view text)
{
    uint64_t hash = text.size() * 0x9e3779b97f4a7c15ULL;
    const char* at = text.data();
    size_t left = text.size();
    for (; left >= 8; at += 8, left -= 8) {
        uint64_t word = 0;
        std::memcpy(&word, at, 8);
        hash = (std::rotl(hash, 23) ^ word) * 0x9fb21c651e98df25ULL;
    }
    uint64_t tail = 0;
    std::memcpy(&tail, at, left);
    return mixBits((std::rotl(hash, 23) ^ tail) * 0x9fb21c651e98df25ULL);
}

/// The hash index without the rows: open addressing over row numbers from 1 on. MT: one thread.
class RowIndex {
public:
    /// The row that `equals(row)` accepts among those with this hash, or 0.
    template <class Equals> uint32_t find(uint64_t hash, Equals&& equals) const
    {
        if (slots_.empty())
            return 0;
        const size_t mask = slots_.size() - 1;
        for (size_t at = hash & mask;; at = (at + 1) & mask) {
            const Slot& slot = slots_[at];
            if (slot.row == 0)
                return 0;
            if (slot.hash == static_cast<uint32_t>(hash >> 32) && equals(slot.row))
                return slot.row;
        }
    }

    /// Adds a row that find() did not find.
    void insert(uint64_t hash, uint32_t row)
    {
        if ((hashes_.size() + 1) * 2 > slots_.size())
            grow();
        hashes_.push_back(hash);
        place(hash, row);
    }

private:
    struct Slot {
        uint32_t hash = 0; ///< upper half of the hash, compared before the row is looked at
        uint32_t row = 0;
    };

    void place(uint64_t hash, uint32_t row)
    {
        const size_t mask = slots_.size() - 1;
        size_t at = hash & mask;
        while (slots_[at].row != 0)
            at = (at + 1) & mask;
        slots_[at] = {static_cast<uint32_t>(hash >> 32), row};
    }

    void grow()
    {
        constexpr size_t kSmallest = 64;
        slots_.assign(slots_.empty() ? kSmallest : slots_.size() * 2, Slot{});
        for (uint32_t row = 0; row < hashes_.size(); ++row)
            place(hashes_[row], row + 1);
    }

    std::vector<Slot> slots_;
    std::vector<uint64_t> hashes_; ///< of row i + 1
};

/// Rows of a plain struct with `operator==` and `uint64_t hashOf(const Row&)`. Ids count from 1 in order of
/// first appearance. MT: one thread.
template <class Row, class RowId> class Interner {
public:
    RowId intern(const Row& row)
    {
        const uint64_t hash = hashOf(row);
        if (const uint32_t found = index_.find(hash, [&](uint32_t at) { return rows_[at - 1] == row; }))
            return {found};
        rows_.push_back(row);
        index_.insert(hash, static_cast<uint32_t>(rows_.size()));
        return {static_cast<uint32_t>(rows_.size())};
    }

    /// The id of a row that was interned, or 0.
    RowId find(const Row& row) const
    {
        return {index_.find(hashOf(row), [&](uint32_t at) { return rows_[at - 1] == row; })};
    }

    const Row& operator[](RowId id) const { return rows_[id.v - 1]; }
    uint32_t size() const { return static_cast<uint32_t>(rows_.size()); }
    const std::vector<Row>& rows() const { return rows_; }

private:
    std::vector<Row> rows_;
    RowIndex index_;
};

/// Interns text; the bytes live in blocks that never move. MT: one thread.
class StringInterner {
public:
    StringId intern(std::string_view text);

    std::string_view operator[](StringId id) const { return id ? rows_[id.v - 1] : std::string_view(); }
    uint32_t size() const { return static_cast<uint32_t>(rows_.size()); }

private:
    std::string_view store(std::string_view text);

    std::vector<std::string_view> rows_;
    std::vector<std::unique_ptr<char[]>> blocks_;
    size_t blockLeft_ = 0;
    char* blockAt_ = nullptr;
    RowIndex index_;
};

} // namespace whichlock
