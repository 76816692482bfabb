// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of call frame information in a compact form. Of millions of addresses only some hundred rows differ:
// equal ones are kept once, and stay in the cache of the processor.
#pragma once

#include "analyzer/model/interner.h"
#include "analyzer/symbols/cfi_program.h"

#include <span>
#include <string_view>
#include <vector>

namespace whichlock {

/// Where one register of the caller is; those without a rule keep their value.
struct UnwindRule {
    int32_t value = 0; ///< as in RegisterRule; of expressions their number
    uint8_t column = 0;
    RegisterRuleKind kind = RegisterRuleKind::Same;

    bool operator==(const UnwindRule&) const = default;
};

struct UnwindRow {
    int32_t cfaOffset = 0; ///< of an expression its number
    uint32_t firstRule = 0;
    uint8_t rules = 0;
    uint8_t cfaRegister = 0;
    bool cfaByExpression = false;
    uint8_t returnColumn = 0;
    bool signalFrame = false;
    bool returnSigned = false;
};

/// Number of a row; 0 is none.
using UnwindRowId = Id<struct UnwindRowTag>;

/// MT: one thread.
class UnwindRows {
public:
    /// None if a number in it is larger than any frame could be.
    UnwindRowId add(const CfiRow& row, const CfiCommon& common);

    const UnwindRow& operator[](UnwindRowId id) const { return rows_[id.v - 1]; }
    std::span<const UnwindRule> rulesOf(const UnwindRow& row) const
    {
        return {rules_.data() + row.firstRule, row.rules};
    }
    std::string_view expression(int32_t number) const
    {
        return expressions_[StringId{static_cast<uint32_t>(number)}];
    }
    size_t size() const { return rows_.size(); }

private:
    bool compact(const RegisterRule& rule, UnwindRule& result);
    bool equal(const UnwindRow& a, const UnwindRow& b) const;
    uint64_t hashOf(const UnwindRow& row) const;

    std::vector<UnwindRow> rows_;
    std::vector<UnwindRule> rules_;
    RowIndex index_;
    StringInterner expressions_;
};

} // namespace whichlock
