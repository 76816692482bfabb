// SPDX-License-Identifier: GPL-3.0-or-later
// Symbols by address, whatever they were read from: ELF, kallsyms, System.map, perf-PID.map.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock {

enum class SymbolBinding : uint8_t { Local, Weak, Global };

/// Which of several names of one address is kept; both ways are those of perf, so that names are equal.
enum class AliasRule : uint8_t {
    BestName,   ///< ELF: with a size, not weak, global, fewer leading underscores, longer
    LastListed, ///< kallsyms: the earlier ones end where they begin
};

/// A symbol on its way into a table.
struct SymbolEntry {
    uint64_t address = 0;
    uint64_t size = 0;
    /// For size 0: the first address that it cannot cover; 0 = it covers only its own; kNoLimit = unknown,
    /// then it ends with its page unless another symbol of its module follows.
    uint64_t limit = 0;
    static constexpr uint64_t kNoLimit = UINT64_MAX;
    SymbolBinding binding = SymbolBinding::Local;
    std::string_view name{};
    std::string_view module{}; ///< of kallsyms; empty for the kernel itself
};

/// What a look-up found; the texts live as long as the table.
struct SymbolHit {
    std::string_view name;
    std::string_view module;
    uint64_t address = 0;
    uint64_t size = 0;
};

/// Built once, then looked up. MT: safe once finish() was called.
class SymbolTable {
public:
    void add(const SymbolEntry& entry);
    /// Sorts, keeps one of several names of an address, and ends symbols without size at the next one.
    void finish(AliasRule rule = AliasRule::BestName);

    /// The innermost symbol that covers the address; never one that merely lies near.
    bool find(uint64_t address, SymbolHit& hit) const;
    /// Where `_text` or `_stext` is: what recorded kernel addresses are relative to. None if the table lacks
    /// it.
    std::optional<uint64_t> referenceAddress(std::string_view name) const;
    size_t size() const { return rows_.size(); }
    bool empty() const { return rows_.empty(); }

private:
    struct Row {
        uint64_t address = 0;
        uint64_t end = 0; ///< 0 = only the address itself
        uint64_t limit = 0;
        uint32_t name = 0; ///< into text_
        uint32_t nameLength = 0;
        uint32_t module = 0;     ///< into modules_
        uint32_t around = kNone; ///< row of the next symbol outwards
        SymbolBinding binding = SymbolBinding::Local;
    };
    static constexpr uint32_t kNone = UINT32_MAX;

    std::string_view nameOf(const Row& row) const
    {
        return std::string_view(text_).substr(row.name, row.nameLength);
    }
    bool better(const Row& a, const Row& b) const;
    void link();

    std::string text_;
    std::vector<Row> rows_;
    std::vector<std::string> modules_{""};
    std::map<std::string, uint32_t, std::less<>> moduleRows_;
    std::optional<uint64_t> textStart_;  ///< of `_text`
    std::optional<uint64_t> stextStart_; ///< of `_stext`
};

} // namespace whichlock
