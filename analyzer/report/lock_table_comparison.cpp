// SPDX-License-Identifier: GPL-3.0-or-later
// Two tables of lock statistics of one input, lock by lock.
#include "analyzer/report/section_builders.h"
#include "analyzer/report/shares.h"

#include <algorithm>
#include <fmt/format.h>

namespace whichlock {
namespace {

using Figure = std::optional<uint64_t>;

void addRow(const std::string& what, const std::optional<FixedPoint>& before,
    const std::optional<FixedPoint>& after, ReportComparison& out)
{
    if (!before && !after)
        return;
    ComparisonRow row{what, before, after, std::nullopt, std::nullopt};
    if (before && after)
        row.changePercent = changePercent(*before, *after);
    out.rows.push_back(std::move(row));
}

std::optional<FixedPoint> count(const Figure& value)
{
    return value ? fixedFromCount(*value) : std::nullopt;
}

/// Microseconds, as most tools print them.
std::optional<FixedPoint> microseconds(const Figure& ns)
{
    constexpr int64_t kMillionthsPerNs = 1000;
    FixedPoint value;
    if (!ns || *ns > INT64_MAX
        || __builtin_mul_overflow(static_cast<int64_t>(*ns), kMillionthsPerNs, &value.millionths))
        return std::nullopt;
    return value;
}

void compareLock(const ReportTableLock& before, const ReportTableLock& after, ReportComparison& out)
{
    const LockTableRow& a = before.figures;
    const LockTableRow& b = after.figures;
    const std::string of = before.name.empty() ? std::string() : ", " + before.name;
    addRow("contentions" + of, count(a.contentions), count(b.contentions), out);
    addRow("wait us" + of, microseconds(a.wait.totalNs), microseconds(b.wait.totalNs), out);
    addRow("acquisitions" + of, count(a.acquisitions), count(b.acquisitions), out);
    addRow("held us" + of, microseconds(a.hold.totalNs), microseconds(b.hold.totalNs), out);
    addRow("waits from another CPU" + of, count(a.waitBounces), count(b.waitBounces), out);
    addRow("taken on another CPU" + of, count(a.takeBounces), count(b.takeBounces), out);
}

std::string labelOf(const ReportSection& section)
{
    return section.title.empty() ? toString(section.position) : section.title;
}

} // namespace

ReportComparison compareLockTables(const Report& report, size_t a, size_t b)
{
    const ReportSection& first = report.sections[a];
    const ReportSection& second = report.sections[b];
    ReportComparison result{labelOf(first), labelOf(second), "locks", b, {}};
    constexpr size_t kMostLocks = 5;
    for (const ReportTableLock& lock : first.lockTable->locks) {
        const auto& others = second.lockTable->locks;
        const auto other = std::find_if(others.begin(), others.end(),
            [&](const ReportTableLock& one) { return one.name == lock.name && one.rung == lock.rung; });
        if (other != others.end() && lock.id <= kMostLocks)
            compareLock(lock, *other, result);
    }
    return result;
}

bool sameLockTables(const ReportSection& a, const ReportSection& b)
{
    return a.lockTable && b.lockTable && a.format == b.format
        && a.lockTable->facts.key == b.lockTable->facts.key
        && a.lockTable->facts.holdsOnly == b.lockTable->facts.holdsOnly && !a.lockTable->locks.empty()
        && !b.lockTable->locks.empty();
}

} // namespace whichlock
