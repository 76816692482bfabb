// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/locks/known_sites.h"

#include "analyzer/locks/embedded_tables.h"
#include "analyzer/locks/table_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

namespace whichlock {

namespace {

enum Column : size_t { kFunction, kLock, kSince, kUntil, kArch, kVia, kSource, kChecked };
constexpr std::array<std::string_view, 8> kColumns = {
    "function", "lock", "since", "until", "arch", "via", "source", "versions_checked"};

struct ByFunction {
    bool operator()(const KnownSite& a, const KnownSite& b) const { return a.function < b.function; }
    bool operator()(const KnownSite& a, std::string_view b) const { return a.function < b; }
    bool operator()(std::string_view a, const KnownSite& b) const { return a < b.function; }
};

Result<KnownSite> readRow(const TableText& table)
{
    if (table.cell(kFunction).empty() || table.cell(kLock).empty())
        return table.error("a row needs a function and a lock");
    Result<Era> era = table.era(kSince, kUntil);
    if (!era)
        return tl::make_unexpected(era.error());
    const std::string_view archText = table.cell(kArch).empty() ? "all" : table.cell(kArch);
    const std::optional<ArchSet> arch = ArchSet::parse(archText);
    if (!arch)
        return table.error(fmt::format("'{}' is no list of known architectures", archText));
    return KnownSite{table.cell(kFunction), table.cell(kLock), *era, *arch, table.cell(kVia),
        table.cell(kSource), table.cell(kChecked)};
}

} // namespace

Result<KnownSites> KnownSites::parse(std::string_view fileName, std::string_view text)
{
    TableText table(fileName, text, kColumns);
    if (auto header = table.readHeader(2); !header)
        return tl::make_unexpected(header.error());
    KnownSites sites;
    while (true) {
        Result<bool> more = table.next();
        if (!more)
            return tl::make_unexpected(more.error());
        if (!*more)
            break;
        Result<KnownSite> row = readRow(table);
        if (!row)
            return tl::make_unexpected(row.error());
        sites.rows_.push_back(*row);
    }
    std::stable_sort(sites.rows_.begin(), sites.rows_.end(), ByFunction());
    return sites;
}

const KnownSites& KnownSites::builtIn()
{
    static const KnownSites sites = [] {
        Result<KnownSites> parsed = parse("known_sites.tsv", embeddedKnownSites());
        assert(parsed && "the built-in table is broken");
        return parsed ? *std::move(parsed) : KnownSites();
    }();
    return sites;
}

std::vector<const KnownSite*> KnownSites::find(
    std::string_view normalisedFunction, const Context& context) const
{
    std::vector<const KnownSite*> found;
    const ArchSet machine = ArchSet::ofMachine(context.arch);
    const auto [begin, end] = std::equal_range(rows_.begin(), rows_.end(), normalisedFunction, ByFunction());
    for (auto row = begin; row != end; ++row) {
        const bool eraFits = !context.era || row->era.overlaps(*context.era);
        // With an unknown processor every row stays a candidate: no function here has two meanings.
        const bool archFits = machine.empty() || row->arch.matches(machine);
        if (eraFits && archFits)
            found.push_back(&*row);
    }
    return found;
}

} // namespace whichlock
