// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/unwind_rows.h"

#include <algorithm>
#include <limits>

namespace whichlock {
namespace {

bool fitsInt32(int64_t value)
{
    return value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max();
}

} // namespace

bool UnwindRows::compact(const RegisterRule& rule, UnwindRule& result)
{
    result.kind = rule.kind;
    if (rule.kind == RegisterRuleKind::AtExpression || rule.kind == RegisterRuleKind::Expression) {
        result.value = static_cast<int32_t>(expressions_.intern(rule.expression).v);
        return true;
    }
    result.value = static_cast<int32_t>(rule.value);
    return fitsInt32(rule.value);
}

bool UnwindRows::equal(const UnwindRow& a, const UnwindRow& b) const
{
    return a.cfaOffset == b.cfaOffset && a.cfaRegister == b.cfaRegister
        && a.cfaByExpression == b.cfaByExpression && a.returnColumn == b.returnColumn
        && a.signalFrame == b.signalFrame && a.returnSigned == b.returnSigned
        && std::ranges::equal(rulesOf(a), rulesOf(b));
}

uint64_t UnwindRows::hashOf(const UnwindRow& row) const
{
    uint64_t hash = mixBits(static_cast<uint64_t>(row.cfaOffset) << 32U
        | static_cast<uint64_t>(row.cfaRegister) << 16U | static_cast<uint64_t>(row.returnColumn) << 8U
        | (row.cfaByExpression ? 4U : 0U) | (row.signalFrame ? 2U : 0U) | (row.returnSigned ? 1U : 0U));
    for (const UnwindRule& rule : rulesOf(row))
        hash = mixBits(hash
            ^ (static_cast<uint64_t>(static_cast<uint32_t>(rule.value)) << 16U
                | static_cast<uint64_t>(rule.column) << 8U | static_cast<uint64_t>(rule.kind)));
    return hash;
}

UnwindRowId UnwindRows::add(const CfiRow& row, const CfiCommon& common)
{
    UnwindRow added;
    added.cfaByExpression = !row.cfaExpression.empty();
    added.cfaRegister = static_cast<uint8_t>(row.cfaRegister);
    added.cfaOffset = added.cfaByExpression ? static_cast<int32_t>(expressions_.intern(row.cfaExpression).v)
                                            : static_cast<int32_t>(row.cfaOffset);
    if (common.returnColumn >= kCfiRegisters || (!added.cfaByExpression && !fitsInt32(row.cfaOffset)))
        return {};
    if (added.cfaByExpression)
        added.cfaRegister = 0;
    added.returnColumn = static_cast<uint8_t>(common.returnColumn);
    added.signalFrame = common.signalFrame;
    added.returnSigned = row.returnSigned;
    added.firstRule = static_cast<uint32_t>(rules_.size());
    for (size_t column = 0; column < kCfiRegisters; ++column) {
        UnwindRule rule{.column = static_cast<uint8_t>(column)};
        if (row.registers[column].kind == RegisterRuleKind::Same)
            continue;
        if (!compact(row.registers[column], rule)) {
            rules_.resize(added.firstRule);
            return {};
        }
        rules_.push_back(rule);
    }
    added.rules = static_cast<uint8_t>(rules_.size() - added.firstRule);
    const uint64_t hash = hashOf(added);
    if (const uint32_t found = index_.find(hash, [&](uint32_t at) { return equal(rows_[at - 1], added); })) {
        rules_.resize(added.firstRule);
        return {found};
    }
    rows_.push_back(added);
    index_.insert(hash, static_cast<uint32_t>(rows_.size()));
    return {static_cast<uint32_t>(rows_.size())};
}

} // namespace whichlock
