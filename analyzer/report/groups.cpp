// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/groups.h"

#include "analyzer/report/symbol_names.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace whichlock {
namespace {

using RowKey = std::tuple<int32_t, int32_t, int32_t, std::string>; // pid, tid, cpu, name

bool heavierRow(const GroupSum& a, const GroupSum& b)
{
    if (a.row.recorded != b.row.recorded)
        return a.row.recorded; // what is not recorded is no row of its own to rank
    if (a.all.value != b.all.value || a.all.printed != b.all.printed)
        return heavier(a.all, b.all);
    return std::tie(a.row.name, a.row.pid, a.row.tid, a.row.cpu)
        < std::tie(b.row.name, b.row.pid, b.row.tid, b.row.cpu);
}

class Grouping {
public:
    Grouping(const Profile& profile, const Section& section, GroupBy by, Classifier* classifier)
        : profile_(profile)
        , section_(section)
        , by_(by)
        , classifier_(classifier)
        , symbols_(profile, section)
    {
    }

    std::vector<GroupSum> rows()
    {
        if (by_ == GroupBy::Process)
            nameProcesses();
        for (const Cell& cell : section_.cells)
            add(cell);
        if (std::none_of(sums_.begin(), sums_.end(), [](const GroupSum& sum) { return sum.row.recorded; }))
            return {};
        std::stable_sort(sums_.begin(), sums_.end(), heavierRow);
        return std::move(sums_);
    }

private:
    /// A process has the name of its first thread; where that has no sample, of its heaviest one.
    void nameProcesses()
    {
        std::map<std::tuple<int32_t, bool, std::string_view>, uint64_t> weights;
        for (const Cell& cell : section_.cells) {
            if (!cell.group)
                continue;
            const ThreadGroup& group = profile_.group(cell.group);
            weights[{group.pid, group.pid == group.tid, profile_.string(group.comm)}] += cell.weight;
        }
        std::unordered_map<int32_t, std::pair<bool, uint64_t>> best;
        for (const auto& [key, weight] : weights) {
            const auto& [pid, isFirst, name] = key;
            const auto [entry, isNew] = best.try_emplace(pid, isFirst, weight);
            if (!isNew && std::pair(isFirst, weight) <= entry->second)
                continue;
            entry->second = {isFirst, weight};
            processNames_[pid] = name;
        }
    }

    /// Who the row is; `recorded` is false where the samples do not tell.
    ReportGroup identity(const Cell& cell) const
    {
        ReportGroup row;
        if (by_ == GroupBy::Symbol) {
            row.name = symbols_.of(cell.stack);
            return row;
        }
        if (!cell.group) {
            row.recorded = false;
            return row;
        }
        const ThreadGroup& group = profile_.group(cell.group);
        const std::string_view comm = profile_.string(group.comm);
        switch (by_) {
        case GroupBy::Thread:
            row.pid = group.pid;
            row.tid = group.tid;
            row.name = comm;
            row.recorded = group.tid >= 0;
            break;
        case GroupBy::Comm:
            row.name = comm;
            row.recorded = !comm.empty();
            break;
        case GroupBy::Process:
            row.pid = group.pid;
            row.recorded = group.pid >= 0;
            if (row.recorded)
                row.name = processNames_.at(group.pid);
            break;
        case GroupBy::Cpu:
            row.cpu = group.cpu;
            row.recorded = group.cpu >= 0;
            break;
        case GroupBy::Symbol:
        case GroupBy::Lock:
        case GroupBy::Site:
        case GroupBy::Holder:
            row.recorded = false;
            break;
        }
        return row.recorded ? row : ReportGroup{.recorded = false};
    }

    void add(const Cell& cell)
    {
        ReportGroup row = identity(cell);
        const auto [entry, isNew] =
            places_.try_emplace({row.pid, row.tid, row.recorded ? row.cpu : -2, row.name}, sums_.size());
        if (isNew)
            sums_.emplace_back().row = std::move(row);
        GroupSum& sum = sums_[entry->second];
        const Weight weight(cell);
        sum.all += weight;
        if (classifier_ == nullptr)
            return;
        const Category category = classifier_->classify(cell.stack).category;
        if (category == Category::Idle)
            sum.idle += weight;
        if (category == Category::Contention)
            sum.contention += weight;
    }

    const Profile& profile_;
    const Section& section_;
    GroupBy by_;
    Classifier* classifier_;
    SymbolNames symbols_;
    std::unordered_map<int32_t, std::string> processNames_;
    std::map<RowKey, size_t> places_;
    std::vector<GroupSum> sums_;
};

} // namespace

std::vector<GroupSum> recordedSums(
    const Profile& profile, const Section& section, GroupBy by, Classifier* classifier)
{
    return Grouping(profile, section, by, classifier).rows();
}

std::vector<GroupSum> siteSums(const Attribution& attribution)
{
    std::vector<GroupSum> sums;
    std::unordered_map<std::string_view, size_t> places;
    for (const LockShare& lock : attribution.locks) {
        for (const LockSite& site : lock.sites) {
            const auto [entry, isNew] = places.try_emplace(site.name, sums.size());
            if (isNew)
                sums.emplace_back().row.name = site.name;
            sums[entry->second].all += site.weight;
            sums[entry->second].contention += site.weight;
        }
    }
    std::stable_sort(sums.begin(), sums.end(), heavierRow);
    return sums;
}

} // namespace whichlock
