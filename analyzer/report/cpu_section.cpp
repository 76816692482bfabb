// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/groups.h"
#include "analyzer/report/section_builders.h"
#include "analyzer/report/shares.h"
#include "analyzer/report/symbol_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace whichlock {
namespace {

/// Figures of one section while it is being built.
class CpuSectionBuilder {
public:
    CpuSectionBuilder(const Profile& profile, const Section& section, const RoutineTable& routines,
        const Query& query, ReportSection& out)
        : profile_(profile)
        , section_(section)
        , routines_(routines)
        , query_(query)
        , out_(out)
        , attribution_(attribute(profile, section, routines))
        , whole_(section, listedWeight(section))
        , idle_(attribution_.of(Category::Idle))
    {
    }

    void run()
    {
        out_.busyKnown = !idle_.empty();
        out_.total = whole_.total();
        out_.totalBasis = whole_.basis();
        out_.listed = section_.weight;
        out_.measuresTime = attribution_.context.measuresTime;
        std::set<StringId> comms;
        for (const Cell& cell : section_.cells) {
            if (cell.group)
                comms.insert(profile_.group(cell.group).comm);
        }
        out_.comms = comms.size();
        addFacts();
        addCoverage();
        addParts();
        addSymbols();
        addLocks();
        addGroups();
        // A trickle of waiting is not worth guesses.
        if (decidingShare(out_).value_or(Share{}) >= kInnocentBelow)
            out_.candidates = attribution_.candidates;
        addAccount();
        addUnattributed();
    }

private:
    static Weight listedWeight(const Section& section)
    {
        Weight sum;
        for (const Cell& cell : section.cells)
            sum += Weight(cell);
        return sum;
    }

    Part part(const Weight& weight) const
    {
        Part result = whole_.part(weight);
        if (out_.busyKnown)
            whole_.addBusyShare(result, weight, idle_);
        return result;
    }

    Part idlePart(const Weight& weight) const { return whole_.part(weight); }

    void addFacts()
    {
        const RecordingContext& context = attribution_.context;
        out_.partialView = std::any_of(section_.facts.begin(), section_.facts.end(),
            [](const Fact& fact) { return fact.kind == FactKind::View; });
        out_.facts.kernel = context.kernel;
        out_.facts.kernelSource = context.kernelSource;
        out_.facts.arch = context.arch;
        out_.facts.archSource = context.archSource;
        out_.facts.scope = scopeName(context.recorded.scope);
        out_.facts.workload = context.recorded.workload;
        out_.facts.copiesStacks = context.recorded.copiesStacks;
        if (out_.unit == Unit::Ticks)
            out_.facts.scope = "machine"; // the timer of every CPU in the mask
        if (context.era)
            out_.facts.era = fmt::format("{} (by {})", context.kernel, context.kernelSource);
    }

    void addCoverage()
    {
        Coverage& sees = out_.sees;
        const RecordingContext& context = attribution_.context;
        const bool kernel = !context.userOnly && context.measuresTime;
        sees.kernelSpin = kernel
            ? (context.nmi == NmiSafety::NotSafe && out_.unit != Unit::Ticks ? Sees::Partly : Sees::Yes)
            : Sees::No;
        sees.userSpin = out_.unit == Unit::Ticks || !context.measuresTime ? Sees::No : Sees::Partly;
        sees.callers = attribution_.hasCallChains ? Sees::Yes : Sees::No;
    }

    void addParts()
    {
        const auto of = [&](Category category) { return part(attribution_.of(category)); };
        out_.idle = idlePart(idle_);
        out_.idleProbable = of(Category::IdleProbable);
        out_.contention = of(Category::Contention);
        out_.undecided = of(Category::Undecided);
        out_.overhead = of(Category::Overhead);
        out_.bounce = of(Category::Bounce);
        out_.artefact = of(Category::Artefact);
        Weight lockFunctions = attribution_.of(Category::Contention);
        lockFunctions += attribution_.of(Category::Undecided);
        lockFunctions += attribution_.of(Category::Overhead);
        out_.lockFunctions = part(lockFunctions);
        out_.busy = part(whole_.without(idle_));
        out_.contentionDecided = attribution_.of(Category::Undecided).empty();
        const Weight& probable = attribution_.of(Category::IdleProbable);
        if (!probable.empty()) {
            Weight allIdle = idle_;
            allIdle += probable;
            out_.contentionOfBusyIfProbableIdle =
                whole_.shareWithout(attribution_.of(Category::Contention), allIdle);
        }
        out_.contentionInterval = intervalOf(out_.contention);
    }

    /// Counts are samples where they were not weighted by a period.
    bool valuesAreSamples() const { return out_.unit == Unit::Samples || out_.unit == Unit::Ticks; }

    std::optional<ShareInterval> intervalOf(const Part& what) const
    {
        const uint64_t hits = section_.samples != 0 ? what.samples : what.value;
        uint64_t samples = section_.samples;
        if (samples == 0 && valuesAreSamples() && out_.total)
            samples = *out_.total;
        if (samples == 0)
            return std::nullopt;
        if (out_.busyKnown) {
            const uint64_t idle = section_.samples != 0 ? idle_.samples : idle_.value;
            samples -= std::min(idle, samples);
        }
        return hits > samples ? std::nullopt : std::optional(wilsonInterval(hits, samples));
    }

    std::vector<ReportSymbol> symbols(const std::vector<SymbolShare>& shares, bool idle = false) const
    {
        std::vector<ReportSymbol> result;
        for (const SymbolShare& share : shares)
            result.push_back({share.symbol, share.role, std::string(categoryName(share.category)),
                idle ? idlePart(share.weight) : part(share.weight)});
        return result;
    }

    void addSymbols()
    {
        out_.idleSymbols = symbols(attribution_.idleSymbols, true);
        out_.lockSymbols = symbols(attribution_.lockSymbols);
        out_.bounceSymbols = symbols(attribution_.bounceSymbols);
        out_.artefactSymbols = symbols(attribution_.artefactSymbols);
        out_.pauseLoops = symbols(attribution_.pauseLoops);
        addTopSymbols();
    }

    /// The heaviest functions that are neither idle nor about locks.
    void addTopSymbols()
    {
        std::set<std::string_view> shown;
        for (const auto* list : {&attribution_.idleSymbols, &attribution_.lockSymbols,
                 &attribution_.bounceSymbols, &attribution_.artefactSymbols}) {
            for (const SymbolShare& share : *list)
                shown.insert(share.symbol);
        }
        const SymbolNames names(profile_, section_);
        std::map<std::string, Weight> others;
        for (const Cell& cell : section_.cells) {
            if (!shown.contains(profile_.leafSymbol(cell.stack)))
                others[names.of(cell.stack)] += Weight(cell);
        }
        std::vector<std::pair<std::string, Weight>> sorted(others.begin(), others.end());
        std::stable_sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return heavier(a.second, b.second); });
        if (sorted.size() > query_.topSymbols)
            sorted.resize(query_.topSymbols);
        for (const auto& [symbol, weight] : sorted)
            out_.topSymbols.push_back({symbol, "", "busy", part(weight)});
    }

    /// Share of all waiting: by value where there is one.
    std::optional<Share> ofWeight(const Weight& weight, const Weight& all) const
    {
        if (all.value != 0)
            return shareOf(weight.value, all.value);
        if (all.printed.ppb > 0)
            return shareOf(static_cast<uint64_t>(weight.printed.ppb), static_cast<uint64_t>(all.printed.ppb));
        return std::nullopt;
    }

    void addLocks()
    {
        const Weight& all = attribution_.of(Category::Contention);
        for (const LockShare& lock : attribution_.locks) {
            ReportLock row;
            row.id = static_cast<uint32_t>(out_.locks.size() + 1);
            row.name = lock.name;
            row.rung = lock.rung;
            row.kind = lock.kind;
            row.basis = lock.basis;
            row.expression = lock.expression;
            row.verified = lock.verified;
            row.part = part(lock.weight);
            row.ofLock = ofWeight(lock.weight, all);
            row.interval = intervalOf(row.part);
            for (const LockSite& site : lock.sites)
                row.sites.push_back({site.name, part(site.weight), ofWeight(site.weight, lock.weight),
                    site.recovered, site.calledFrom});
            out_.locks.push_back(std::move(row));
        }
    }

    void addGroups()
    {
        if (query_.by == GroupBy::Lock)
            return;
        Classifier classifier(profile_, section_, routines_, attribution_.context);
        const auto sums = query_.by == GroupBy::Site
            ? siteSums(attribution_)
            : recordedSums(profile_, section_, query_.by, &classifier);
        for (const GroupSum& sum : sums)
            out_.groups.push_back(group(sum));
    }

    ReportGroup group(const GroupSum& sum) const
    {
        ReportGroup row = sum.row;
        row.part = idlePart(sum.all);
        row.contention = part(sum.contention);
        Weight busy = sum.all;
        if (out_.busyKnown) {
            busy -= sum.idle;
            row.part.ofBusy = part(busy).ofBusy;
        }
        Part sampled = row.part;
        sampled.samples = busy.samples;
        sampled.value = busy.value;
        row.interval = intervalOf(sampled);
        if (out_.contentionDecided && query_.by != GroupBy::Site && !busy.empty())
            row.contentionOfRow = ofWeight(sum.contention, busy);
        return row;
    }

    void line(std::string what, std::string key, unsigned indent, bool partOfSum, Part linePart)
    {
        out_.account.push_back({std::move(what), std::move(key), indent, partOfSum, std::move(linePart)});
    }

    /// A line for each of the heaviest symbols of a category, and one for the rest.
    void addSymbolLines(
        std::string_view what, const char* key, unsigned indent, const std::vector<SymbolShare>& symbols)
    {
        constexpr size_t kMostLines = 4;
        const size_t shown = symbols.size() <= kMostLines + 1 ? symbols.size() : kMostLines;
        const bool isIdle = std::string_view(key) == "idle";
        const auto partOf = [&](const Weight& weight) { return isIdle ? idlePart(weight) : part(weight); };
        for (size_t i = 0; i < shown; ++i)
            line(fmt::format("{}{}", what, symbols[i].symbol), key, indent, true, partOf(symbols[i].weight));
        Weight rest;
        for (size_t i = shown; i < symbols.size(); ++i)
            rest += symbols[i].weight;
        if (shown < symbols.size())
            line(fmt::format("{}{} others", what, symbols.size() - shown), key, indent, true, partOf(rest));
    }

    void addAccount()
    {
        Weight everything = whole_.without({});
        line("total", "total", 0, false, idlePart(everything));
        addSymbolLines("idle: ", "idle", 1, attribution_.idleSymbols);
        if (out_.busyKnown)
            line("busy", "busy", 1, false, out_.busy);
        const unsigned indent = out_.busyKnown ? 2 : 1;
        const auto add = [&](std::string what, Category category) {
            const Weight& weight = attribution_.of(category);
            if (!weight.empty())
                line(std::move(what),
                    std::string(category == Category::Busy ? "other" : categoryName(category)), indent, true,
                    part(weight));
        };
        if (attribution_.of(Category::Contention).empty() && out_.contentionDecided)
            line("waiting for a lock on the CPU", "contention", indent, true, part({}));
        add("waiting for a lock on the CPU", Category::Contention);
        add("lock calls; waiting or not is open", Category::Undecided);
        add("lock calls without waiting", Category::Overhead);
        add("atomics, trylocks (shared lines)", Category::Bounce);
        add("interrupts enabled here (artefact?)", Category::Artefact);
        add("waiting for something else", Category::OtherWait);
        addSymbolLines("probably idle: ", "idle-probable", indent, attribution_.idleProbableSymbols);
        add("everything else listed", Category::Busy);
        const Weight rest = whole_.unlisted();
        if (!rest.empty())
            line("not in the list (cut)", "not-listed", indent, true, part(rest));
    }

    void addUnattributed()
    {
        Weight unnamed;
        Weight atSite;
        for (const LockShare& lock : attribution_.locks) {
            if (lock.rung == Rung::Unnamed)
                unnamed += lock.weight;
            if (lock.rung == Rung::CallSite || lock.rung == Rung::SourceLine)
                atSite += lock.weight;
        }
        if (!unnamed.empty())
            out_.unattributed.push_back({"no callers in the profile", part(unnamed)});
        if (!atSite.empty())
            out_.unattributed.push_back({"call site known, lock not named", part(atSite)});
        if (const Weight rest = whole_.unlisted(); !rest.empty())
            out_.unattributed.push_back({"not in the list", part(rest)});
    }

    const Profile& profile_;
    const Section& section_;
    const RoutineTable& routines_;
    const Query& query_;
    ReportSection& out_;
    Attribution attribution_;
    SectionWhole whole_;
    Weight idle_;
};

} // namespace

void buildCpuSection(const Profile& profile, const Section& section, const RoutineTable& routines,
    const Query& query, ReportSection& out)
{
    CpuSectionBuilder(profile, section, routines, query, out).run();
}

void buildTraceSection(const Profile& profile, const Section& section, const Query& query, ReportSection& out)
{
    out.listed = section.weight;
    out.total = section.weight;
    out.totalBasis = "events";
    out.measuresTime = false;
    std::set<StringId> comms;
    for (const Cell& cell : section.cells) {
        if (cell.group)
            comms.insert(profile.group(cell.group).comm);
    }
    out.comms = comms.size();
    out.events.emplace_back(section.record.event, section.samples);
    if (query.by == GroupBy::Lock || query.by == GroupBy::Site)
        return;
    for (GroupSum& sum : recordedSums(profile, section, query.by, nullptr)) {
        sum.row.part = {.value = sum.all.value, .samples = sum.all.samples, .ofTotal = {}, .ofBusy = {}};
        if (section.weight != 0)
            sum.row.part.ofTotal = shareOf(sum.all.value, section.weight);
        out.groups.push_back(std::move(sum.row));
    }
}

} // namespace whichlock
