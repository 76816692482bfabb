// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/symbol_table.h"

#include <algorithm>

namespace whichlock {
namespace {

/// Names of several megabytes are no names; the table of a hostile file stays as large as the file.
constexpr size_t kMostNameBytes = 1 << 16;
constexpr uint64_t kPageBytes = 4096;
/// Entry points inside routines inside sections: real symbols do not nest deeper.
constexpr int kMostNesting = 64;

size_t underscores(std::string_view name)
{
    return std::min(name.find_first_not_of('_'), name.size());
}

} // namespace

void SymbolTable::add(const SymbolEntry& entry)
{
    if (entry.name.empty() || text_.size() + entry.name.size() >= kNone || rows_.size() + 1 >= kNone)
        return;
    Row row{.address = entry.address, .limit = entry.limit, .binding = entry.binding};
    row.end = entry.size > UINT64_MAX - entry.address ? UINT64_MAX : entry.address + entry.size;
    if (entry.size == 0)
        row.end = 0;
    row.name = static_cast<uint32_t>(text_.size());
    row.nameLength = static_cast<uint32_t>(std::min(entry.name.size(), kMostNameBytes));
    text_ += entry.name.substr(0, row.nameLength);
    if (!entry.module.empty()) {
        const auto at = moduleRows_.find(entry.module);
        row.module = at != moduleRows_.end() ? at->second : static_cast<uint32_t>(modules_.size());
        if (at == moduleRows_.end()) {
            moduleRows_.emplace(entry.module, row.module);
            modules_.emplace_back(entry.module);
        }
    } else if (entry.name == "_text") {
        textStart_ = entry.address; // may lose its row to another name of the same address
    } else if (entry.name == "_stext") {
        stextStart_ = entry.address;
    }
    rows_.push_back(row);
}

/// The rule of perf, so that both call an address by the same name: with a size, not weak, global, fewer
/// leading underscores, longer. Then by text, to be the same in every run.
bool SymbolTable::better(const Row& a, const Row& b) const
{
    if ((a.end != 0) != (b.end != 0))
        return a.end != 0;
    if ((a.binding == SymbolBinding::Weak) != (b.binding == SymbolBinding::Weak))
        return b.binding == SymbolBinding::Weak;
    if (a.binding != b.binding)
        return a.binding == SymbolBinding::Global;
    const std::string_view nameA = nameOf(a);
    const std::string_view nameB = nameOf(b);
    if (underscores(nameA) != underscores(nameB))
        return underscores(nameA) < underscores(nameB);
    if (nameA.size() != nameB.size())
        return nameA.size() > nameB.size();
    return nameA < nameB;
}

void SymbolTable::finish(AliasRule rule)
{
    std::sort(rows_.begin(), rows_.end(), [this, rule](const Row& a, const Row& b) {
        if (a.address != b.address)
            return a.address < b.address;
        return rule == AliasRule::LastListed ? a.name > b.name
                                             : better(a, b); // names stand in order of listing
    });
    const auto sameAddress = [](const Row& a, const Row& b) { return a.address == b.address; };
    rows_.erase(std::unique(rows_.begin(), rows_.end(), sameAddress), rows_.end());
    rows_.shrink_to_fit();
    for (size_t i = 0; i < rows_.size(); ++i) {
        Row& row = rows_[i];
        if (row.end != 0 || row.limit <= row.address)
            continue;
        const Row* next = i + 1 < rows_.size() ? &rows_[i + 1] : nullptr;
        if (row.limit == SymbolEntry::kNoLimit && (next == nullptr || next->module != row.module))
            row.limit = (row.address | (kPageBytes - 1)) + 1;
        row.end = next != nullptr ? std::min(next->address, row.limit) : row.limit;
    }
    link();
}

/// Symbols may nest (an entry point inside a routine): each row knows the row around it, so that a look-up
/// behind the end of the inner one finds the outer one in few steps.
void SymbolTable::link()
{
    std::vector<uint32_t> open;
    for (uint32_t i = 0; i < rows_.size(); ++i) {
        while (!open.empty() && rows_[open.back()].end <= rows_[i].address)
            open.pop_back();
        rows_[i].around = open.empty() ? kNone : open.back();
        // A row that ends after the open one hides it for good: both cover what follows, the later one is
        // meant.
        while (!open.empty() && rows_[open.back()].end <= rows_[i].end)
            open.pop_back();
        open.push_back(i);
    }
}

bool SymbolTable::find(uint64_t address, SymbolHit& hit) const
{
    const auto after = std::upper_bound(rows_.begin(), rows_.end(), address,
        [](uint64_t value, const Row& row) { return value < row.address; });
    if (after == rows_.begin())
        return false;
    uint32_t at = static_cast<uint32_t>(after - rows_.begin()) - 1;
    int steps = 0;
    for (; at != kNone && address >= std::max(rows_[at].end, rows_[at].address + 1); ++steps)
        at = steps < kMostNesting ? rows_[at].around : kNone;
    if (at == kNone)
        return false;
    const Row& row = rows_[at];
    hit = {nameOf(row), modules_[row.module], row.address, row.end == 0 ? 0 : row.end - row.address};
    return true;
}

std::optional<uint64_t> SymbolTable::referenceAddress(std::string_view name) const
{
    if (name == "_text")
        return textStart_;
    return name == "_stext" ? stextStart_ : std::nullopt;
}

} // namespace whichlock
