// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/locks/routine_rows.h"

#include "analyzer/locks/table_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace whichlock {

namespace {

enum Column : size_t {
    kSymbol,
    kRole,
    kMatch,
    kOs,
    kArch,
    kSince,
    kUntil,
    kEraNote,
    kBuild,
    kSubsystem,
    kPrimitive,
    kLockArg,
    kLocks,
    kNote,
    kTakes
};
constexpr size_t kRequiredCount = 2;
constexpr std::array<std::string_view, 15> kColumns = {"symbol", "role", "match", "os", "arch", "since",
    "until", "era_note", "build", "subsystem", "primitive", "lock_arg", "locks", "note", "takes"};
constexpr std::array<std::string_view, 4> kSystems = {"linux", "freebsd", "solaris", "windows"};

std::string_view orDefault(std::string_view cell, std::string_view value)
{
    return cell.empty() ? value : cell;
}

Result<void> readRoles(const TableText& table, Routine& row)
{
    std::string_view rest = table.cell(kRole);
    while (true) {
        const size_t plus = rest.find('+');
        const std::string_view name = rest.substr(0, plus);
        const std::optional<Role> role = roleFromName(name);
        if (!role) {
            return table.error(fmt::format("'{}' is no role; the roles are: {}", name,
                fmt::join(kRoleNames.begin(), kRoleNames.end(), ", ")));
        }
        if (row.roles.empty())
            row.mainRole = *role;
        row.roles.add(*role);
        if (plus == std::string_view::npos)
            return {};
        rest.remove_prefix(plus + 1);
    }
}

Result<void> readKind(const TableText& table, Routine& row)
{
    const std::string_view match = orDefault(table.cell(kMatch), "exact");
    if (match != "exact" && match != "glob")
        return table.error(fmt::format("'{}' in column 'match' is neither exact nor glob", match));
    row.glob = match == "glob";
    row.os = orDefault(table.cell(kOs), "linux");
    if (std::find(kSystems.begin(), kSystems.end(), row.os) == kSystems.end())
        return table.error(fmt::format("'{}' is no known operating system", row.os));
    const std::string_view archText = orDefault(table.cell(kArch), "all");
    const std::optional<ArchSet> arch = ArchSet::parse(archText);
    if (!arch)
        return table.error(fmt::format("'{}' is no list of known architectures", archText));
    row.arch = *arch;
    const std::string_view build = table.cell(kBuild);
    if (!build.empty() && build != "debug")
        return table.error(fmt::format("'{}' in column 'build' is neither empty nor debug", build));
    row.debugBuild = !build.empty();
    return {};
}

void readLocks(std::string_view rest, Routine& row)
{
    if (rest.starts_with('?')) {
        row.candidatesOnly = true;
        rest.remove_prefix(1);
    }
    while (!rest.empty()) {
        const size_t bar = rest.find('|');
        if (bar != 0)
            row.locks.push_back(rest.substr(0, bar));
        rest = bar == std::string_view::npos ? std::string_view() : rest.substr(bar + 1);
    }
}

Result<Routine> readRow(const TableText& table)
{
    Routine row;
    row.symbol = table.cell(kSymbol);
    if (row.symbol.empty())
        return table.error("the row has no symbol");
    if (auto read = readRoles(table, row); !read)
        return tl::make_unexpected(read.error());
    if (auto read = readKind(table, row); !read)
        return tl::make_unexpected(read.error());
    Result<Era> era = table.era(kSince, kUntil);
    if (!era)
        return tl::make_unexpected(era.error());
    row.era = *era;
    row.eraNote = table.cell(kEraNote);
    row.subsystem = table.cell(kSubsystem);
    row.primitive = orDefault(table.cell(kPrimitive), "-");
    row.lockArg = orDefault(table.cell(kLockArg), "-");
    readLocks(table.cell(kLocks), row);
    row.note = table.cell(kNote);
    row.takes = table.cell(kTakes);
    return row;
}

} // namespace

Result<std::vector<Routine>> readRoutineRows(std::string_view fileName, std::string_view text)
{
    TableText table(fileName, text, kColumns);
    if (auto header = table.readHeader(kRequiredCount); !header)
        return tl::make_unexpected(header.error());
    std::vector<Routine> rows;
    rows.reserve(text.size() / 100);
    while (true) {
        Result<bool> more = table.next();
        if (!more)
            return tl::make_unexpected(more.error());
        if (!*more)
            return rows;
        Result<Routine> row = readRow(table);
        if (!row)
            return tl::make_unexpected(row.error());
        rows.push_back(*std::move(row));
    }
}

} // namespace whichlock
