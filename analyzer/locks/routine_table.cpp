// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/locks/routine_table.h"

#include "analyzer/locks/embedded_tables.h"
#include "analyzer/locks/glob.h"
#include "analyzer/locks/normalise.h"
#include "analyzer/locks/routine_rows.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace whichlock {

struct RoutineTable::Data {
    std::vector<std::shared_ptr<const std::string>> texts; ///< of files; the built-in text is static
    std::vector<Routine> rows;
    std::vector<uint32_t> exact; ///< row numbers, sorted by symbol
    std::vector<uint32_t> globs; ///< row numbers in table order

    void index();
    std::pair<const uint32_t*, const uint32_t*> exactRows(std::string_view symbol) const;
};

void RoutineTable::Data::index()
{
    exact.clear();
    globs.clear();
    for (uint32_t number = 0; number < rows.size(); ++number)
        (rows[number].glob ? globs : exact).push_back(number);
    std::stable_sort(exact.begin(), exact.end(),
        [this](uint32_t a, uint32_t b) { return rows[a].symbol < rows[b].symbol; });
}

std::pair<const uint32_t*, const uint32_t*> RoutineTable::Data::exactRows(std::string_view symbol) const
{
    const auto first = std::lower_bound(exact.begin(), exact.end(), symbol,
        [this](uint32_t number, std::string_view name) { return rows[number].symbol < name; });
    auto last = first;
    while (last != exact.end() && rows[*last].symbol == symbol)
        ++last;
    return {exact.data() + (first - exact.begin()), exact.data() + (last - exact.begin())};
}

namespace {

bool fits(const Routine& row, const Context& context)
{
    if (row.debugBuild && !context.debugBuild)
        return false;
    return !row.isKernel() || !context.era || row.era.overlaps(*context.era);
}

/// Whether the rows of a symbol say the same on whatever processor they are for.
bool agree(const std::vector<const Routine*>& rows)
{
    return std::all_of(rows.begin(), rows.end(), [&rows](const Routine* row) {
        return row->arch.processors() == rows.front()->arch.processors() || row->roles == rows.front()->roles;
    });
}

/// Leaves the rows for the processor of the profile, or those that hold whatever it was.
void keepForMachine(std::vector<const Routine*>& rows, std::string_view arch)
{
    static const ArchSet kCommonest = ArchSet::ofMachine("x86");
    const ArchSet machine = ArchSet::ofMachine(arch);
    const auto isOther = [set = machine.empty() ? kCommonest : machine](
                             const Routine* row) { return !row->arch.matches(set); };
    const auto others = std::stable_partition(
        rows.begin(), rows.end(), [&isOther](const Routine* row) { return !isOther(row); });
    const bool onlyElsewhere = others == rows.begin();
    if (!machine.empty() || !onlyElsewhere || !agree(rows))
        rows.erase(others, rows.end());
}

/// Rows of the user take the place of the built-in rows of the same kind.
void hideReplaced(std::vector<const Routine*>& rows)
{
    bool userHint = false;
    bool userRoutine = false;
    for (const Routine* row : rows) {
        userHint = userHint || (row->fromUser && row->isSiteHint());
        userRoutine = userRoutine || (row->fromUser && !row->isSiteHint());
    }
    std::erase_if(rows,
        [&](const Routine* row) { return !row->fromUser && (row->isSiteHint() ? userHint : userRoutine); });
}

void append(std::vector<const Routine*>& to, const std::vector<const Routine*>& rows)
{
    for (const Routine* row : rows) {
        if (std::find(to.begin(), to.end(), row) == to.end())
            to.push_back(row);
    }
}

} // namespace

RoutineTable::RoutineTable(std::shared_ptr<const Data> data)
    : data_(std::move(data))
{
}

const RoutineTable& RoutineTable::builtIn()
{
    static const RoutineTable table = [] {
        auto data = std::make_shared<Data>();
        Result<std::vector<Routine>> rows = readRoutineRows("lock_routines.tsv", embeddedLockRoutines());
        assert(rows && "the built-in table is broken");
        if (rows)
            data->rows = *std::move(rows);
        data->index();
        return RoutineTable(std::move(data));
    }();
    return table;
}

Result<RoutineTable> RoutineTable::parse(std::string_view fileName, std::string_view text)
{
    return RoutineTable(std::make_shared<const Data>()).withUserFile(fileName, text);
}

Result<RoutineTable> RoutineTable::withUserFile(std::string_view fileName, std::string_view text) const
{
    auto data = std::make_shared<Data>();
    data->texts = data_->texts;
    data->texts.push_back(std::make_shared<const std::string>(text));
    Result<std::vector<Routine>> rows = readRoutineRows(fileName, *data->texts.back());
    if (!rows)
        return tl::make_unexpected(rows.error());
    data->rows = *std::move(rows);
    for (Routine& row : data->rows)
        row.fromUser = true;
    data->rows.insert(data->rows.end(), data_->rows.begin(), data_->rows.end());
    data->index();
    return RoutineTable(std::move(data));
}

RoutineTable RoutineTable::withLockUse(std::shared_ptr<const LockUse> use) const
{
    RoutineTable table(*this);
    table.use_ = std::move(use);
    return table;
}

std::vector<const Routine*> RoutineTable::find(std::string_view symbol, const Context& context) const
{
    std::vector<const Routine*> found;
    std::vector<const Routine*> rows;
    const auto collectExact = [&](std::string_view name) {
        rows.clear();
        const auto [first, last] = data_->exactRows(name);
        for (const uint32_t* number = first; number != last; ++number) {
            if (fits(data_->rows[*number], context))
                rows.push_back(&data_->rows[*number]);
        }
        keepForMachine(rows, context.arch);
        append(found, rows);
    };
    std::string_view name = normalisedView(symbol);
    // Before 2.4.19 and in trees of that time the stub section's label had underscores for the dots.
    constexpr std::string_view kOldStub = "_text_lock_";
    std::string stub;
    if (name.size() > kOldStub.size() && name.starts_with(kOldStub)) {
        stub.append(".text.lock.").append(name.substr(kOldStub.size()));
        name = stub;
    }
    collectExact(symbol);
    if (name != symbol)
        collectExact(name);
    // A pattern of the user counts beside exact rows: it may be meant to replace them.
    const bool hasExact = !found.empty();
    rows.clear();
    for (const uint32_t number : data_->globs) {
        const Routine& row = data_->rows[number];
        if ((row.fromUser || !hasExact) && matchesGlob(row.symbol, name) && fits(row, context))
            rows.push_back(&row);
    }
    keepForMachine(rows, context.arch);
    append(found, rows);
    hideReplaced(found);
    std::stable_partition(found.begin(), found.end(), [](const Routine* row) { return row->fromUser; });
    return found;
}

const std::vector<Routine>& RoutineTable::rows() const
{
    return data_->rows;
}

} // namespace whichlock
