// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/lock_table_record.h"

#include <fmt/format.h>

#include <string_view>

namespace whichlock {
namespace {

/// Texts are written with their length, figures with what ends them: no two contents give the same bytes.
class Bytes {
public:
    std::string all;

    void text(std::string_view value)
    {
        fmt::format_to(std::back_inserter(all), "{}:{} ", value.size(), value);
    }
    void number(int64_t value) { fmt::format_to(std::back_inserter(all), "{} ", value); }
    void figure(const std::optional<uint64_t>& value)
    {
        value ? fmt::format_to(std::back_inserter(all), "{} ", *value)
              : fmt::format_to(std::back_inserter(all), "- ");
    }
    void share(const std::optional<Share>& value) { value ? number(value->ppb) : figure(std::nullopt); }
    void times(const LockTimes& one)
    {
        for (const auto& value : {one.totalNs, one.minNs, one.maxNs, one.meanNs})
            figure(value);
    }
    void row(const LockTableRow& row)
    {
        for (const std::string* value : {&row.name, &row.side, &row.kind, &row.site, &row.address})
            text(*value);
        number(row.nameCut ? 1 : 0);
        number(row.tid);
        for (const auto& value :
            {row.acquisitions, row.contentions, row.rejected, row.waitBounces, row.takeBounces})
            figure(value);
        times(row.wait);
        times(row.hold);
        share(row.cpuShare);
        share(row.utilisation);
        number(static_cast<int64_t>(row.line));
        number(static_cast<int64_t>(row.sites.size()));
        for (const LockTableSite& site : row.sites) {
            text(site.function);
            number(site.holder ? 1 : 0);
            figure(site.contentions);
            times(site.wait);
            share(site.cpuShare);
        }
        number(static_cast<int64_t>(row.stack.size()));
        for (const std::string& frame : row.stack)
            text(frame);
        all += '\n';
    }
};

} // namespace

std::string bytesOf(const LockTableRecord& record)
{
    Bytes out;
    for (const int64_t value : {static_cast<int64_t>(record.key), static_cast<int64_t>(record.holdsOnly),
             static_cast<int64_t>(record.holders), static_cast<int64_t>(record.givenBack),
             static_cast<int64_t>(record.timesBroken), static_cast<int64_t>(record.waitsDerived),
             static_cast<int64_t>(record.rowsPrinted), static_cast<int64_t>(record.warnings.size())})
        out.number(value);
    out.figure(record.durationNs);
    for (const std::string& warning : record.warnings)
        out.text(warning);
    out.number(record.total ? 1 : 0);
    if (record.total)
        out.row(*record.total);
    for (const LockTableRow& row : record.rows)
        out.row(row);
    return out.all;
}

} // namespace whichlock
