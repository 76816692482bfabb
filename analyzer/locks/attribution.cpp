// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/locks/attribution.h"

#include "analyzer/locks/kernel_locks.h"
#include "analyzer/locks/normalise.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <unordered_map>

namespace whichlock {
namespace {

/// The likeliest lock of a row that names one, if it may be claimed: the row must cover the whole era.
std::string_view tableLock(const Routine& row, const RecordingContext& context)
{
    if (row.locks.empty() || row.candidatesOnly || !context.era || !row.era.covers(*context.era))
        return {};
    return row.locks.front();
}

std::string eraText(const RecordingContext& context)
{
    return fmt::format("table, {} (by {})", context.kernel, context.kernelSource);
}

Era tableEra(const RecordingContext& context)
{
    return context.era.value_or(context.symbolEra);
}

std::string basisOf(const KernelLock& lock, const RecordingContext& context)
{
    return fmt::format("table, {}{}", lock.kernels, context.era ? "" : "; the kernel is not known");
}

/// What the input printed for a row: its value, else its percentage.
std::string valueText(const Weight& weight)
{
    if (weight.value != 0 || weight.printed.ppb <= 0)
        return fmt::format("{}", weight.value);
    constexpr int64_t kHundredth = Share::kPercent / 100;
    return fmt::format("{}.{:02} %", weight.printed.ppb / Share::kPercent,
        weight.printed.ppb % Share::kPercent / kHundredth);
}

class Attributor {
public:
    Attributor(
        const Profile& profile, const Section& section, const RoutineTable& routines, Attribution& result)
        : profile_(profile)
        , section_(section)
        , routines_(routines)
        , result_(result)
        , classifier_(profile, section, routines, result.context)
    {
    }

    void run()
    {
        for (const Cell& cell : section_.cells)
            addCell(cell);
        sortAll();
        if (const Weight unnamed = unnamedWeight(); !unnamed.empty())
            findCandidates(unnamed);
    }

private:
    void addCell(const Cell& cell)
    {
        const StackClass what = classifier_.classify(cell.stack);
        const Weight weight(cell);
        result_.hasCallChains = result_.hasCallChains || hasCaller(cell.stack);
        if (weight.value == 0 && weight.printed.ppb == 0)
            return; // a row of 0.00 %
        result_.byCategory[static_cast<size_t>(what.category)] += weight;
        const std::string_view leaf = profile_.leafSymbol(what.leaf);
        if (std::vector<SymbolShare>* list = listOf(what.category))
            addSymbol(*list, leaf, what, weight);
        if (what.category == Category::Contention)
            addToLock(what, leaf, weight);
        if (what.unknownWaitLoop)
            addSymbol(result_.pauseLoops, loopOwner(cell.stack), what, weight);
    }

    /// Whether more is known than the function at hand and what was inlined into it.
    bool hasCaller(StackId stack) const
    {
        while (stack && profile_.frame(profile_.stack(stack).frame).inlined)
            stack = profile_.stack(stack).parent;
        return stack && profile_.stack(stack).parent;
    }

    /// The function whose loop it is: not the helper of a library that was inlined there.
    std::string_view loopOwner(StackId stack) const
    {
        for (StackId at = stack; at; at = profile_.stack(at).parent) {
            const Frame& frame = profile_.frame(profile_.stack(at).frame);
            const std::string_view name = profile_.string(frame.symbol);
            if (!frame.inlined || !(name.starts_with("std::") || name.starts_with('_')))
                return name;
        }
        return profile_.leafSymbol(stack);
    }

    std::vector<SymbolShare>* listOf(Category category)
    {
        switch (category) {
        case Category::Idle:
            return &result_.idleSymbols;
        case Category::IdleProbable:
            return &result_.idleProbableSymbols;
        case Category::Contention:
        case Category::Undecided:
        case Category::Overhead:
            return &result_.lockSymbols;
        case Category::Bounce:
            return &result_.bounceSymbols;
        case Category::Artefact:
            return &result_.artefactSymbols;
        case Category::OtherWait:
        case Category::Busy:
            return nullptr;
        }
        return nullptr;
    }

    /// The place of a key in a list; a new one is appended as `make()` gives it. Lists may hold thousands of
    /// call sites, so that none is searched from end to end.
    template <class Row, class Make> Row& rowOf(std::vector<Row>& list, std::string key, Make make)
    {
        const auto [entry, isNew] = places_[&list].try_emplace(std::move(key), list.size());
        if (isNew)
            list.push_back(make());
        return list[entry->second];
    }

    void addSymbol(
        std::vector<SymbolShare>& list, std::string_view symbol, const StackClass& what, const Weight& weight)
    {
        std::string key = fmt::format("{} {}", static_cast<int>(what.category), symbol);
        rowOf(list, std::move(key), [&] {
            const std::string_view role =
                what.routine == nullptr ? std::string_view() : roleName(what.routine->mainRole);
            return SymbolShare{std::string(symbol), std::string(role), what.category, {}};
        }).weight += weight;
    }

    void addToLock(const StackClass& what, std::string_view leaf, const Weight& weight)
    {
        LockShare share = name(what, leaf);
        std::string key = fmt::format("{} {}", static_cast<int>(share.rung), share.name);
        LockShare& lock = rowOf(result_.locks, key, [&] { return std::move(share); });
        lock.weight += weight;
        std::string site = what.site ? siteName(what.site) : std::string(leaf);
        const bool recovered = what.site && profile_.frame(profile_.stack(what.site).frame).recovered;
        const std::string siteKey =
            fmt::format("{}{}{}", site, recovered ? 'r' : ' ', what.siteBelowMissing ? 'c' : ' ');
        const auto [entry, isNew] = sites_[std::move(key)].try_emplace(siteKey, lock.sites.size());
        if (isNew)
            lock.sites.push_back({std::move(site), {}, recovered, what.siteBelowMissing});
        lock.sites[entry->second].weight += weight;
    }

    /// The strongest name that the evidence allows.
    LockShare name(const StackClass& what, std::string_view leaf)
    {
        LockShare share;
        share.kind = what.routine->primitive;
        if (nameByCode(what, share))
            return share;
        if (const std::string_view lock = tableLock(*what.routine, result_.context); !lock.empty()) {
            share.name = lock;
            share.rung = Rung::Table;
            share.basis = eraText(result_.context);
            return share;
        }
        if (!what.site) {
            if (nameByStub(leaf, share))
                return share;
            share.name = leaf;
            share.rung = Rung::Unnamed;
            share.basis = "the profile has no callers";
            return share;
        }
        if (auto found = lockOfSite(profile_.leafSymbol(what.site), routines_, result_.context)) {
            share.name = std::move(found->name);
            share.rung = Rung::Table;
            share.basis = std::move(found->basis);
            return share;
        }
        if (nameByKernel(what, share) || nameByLine(what, share))
            return share;
        share.name = what.siteBelowMissing
            ? fmt::format("lock taken in a function called from {}", siteName(what.site))
            : fmt::format("lock taken at {}", siteName(what.site));
        share.rung = Rung::CallSite;
        share.basis = "call site";
        return share;
    }

    /// Code and debug info of the call site, where a reader had them.
    bool nameByCode(const StackClass& what, LockShare& share) const
    {
        if (!what.site)
            return false;
        const Frame& frame = profile_.frame(profile_.stack(what.site).frame);
        if (frame.lockSource == LockSource::None || frame.lockSource == LockSource::Line)
            return false;
        share.name = profile_.string(frame.lock);
        share.expression = profile_.string(frame.lockExpression);
        share.rung = frame.lockSource == LockSource::Symbol ? Rung::Symbol : Rung::Type;
        share.verified = frame.lockVerified;
        share.basis = frame.lockSource == LockSource::Btf ? "code of the call and types of BTF"
                                                          : "code and debug info of the call";
        if (!frame.lockVerified)
            share.basis += ", not verified by a build id";
        return true;
    }

    /// A place in the source says more than one in the code, though it is no name either.
    bool nameByLine(const StackClass& what, LockShare& share) const
    {
        const Frame& frame = profile_.frame(profile_.stack(what.site).frame);
        if (frame.lockSource != LockSource::Line || what.siteBelowMissing)
            return false;
        share.name = fmt::format("lock taken at {} ({})", siteName(what.site), profile_.string(frame.lock));
        share.rung = Rung::SourceLine;
        share.verified = frame.lockVerified;
        share.basis = "debug info of the call";
        if (!frame.lockVerified)
            share.basis += ", not verified by a build id";
        return true;
    }

    /// What the function at the call site takes in that kernel or its neighbours.
    bool nameByKernel(const StackClass& what, LockShare& share) const
    {
        if (!what.routine->isKernel() || what.siteBelowMissing || result_.context.userOnly)
            return false;
        StackId inner = what.leaf;
        while (inner && profile_.stack(inner).parent != what.site)
            inner = profile_.stack(inner).parent;
        if (!inner || !lockTakeOf(normalisedView(profile_.leafSymbol(inner))))
            return false;
        std::vector<std::string_view> chain = {profile_.leafSymbol(inner)};
        constexpr size_t kEnough = 8; // a lock of a lock of ... ends long before
        for (StackId at = what.site; at && chain.size() < kEnough; at = profile_.stack(at).parent)
            chain.push_back(profile_.leafSymbol(at));
        return claim(KernelLocks::builtIn().takenIn(chain, tableEra(result_.context)), share);
    }

    /// Files whose spin loops are all for one lock.
    bool nameByStub(std::string_view leaf, LockShare& share) const
    {
        return result_.context.era && claim(KernelLocks::builtIn().ofStub(leaf, *result_.context.era), share);
    }

    bool claim(const std::optional<KernelLock>& lock, LockShare& share) const
    {
        if (!lock)
            return false;
        share.name = lock->text();
        share.rung = Rung::Table;
        share.basis = basisOf(*lock, result_.context);
        return true;
    }

    std::string siteName(StackId site) const
    {
        const Frame& frame = profile_.frame(profile_.stack(site).frame);
        const std::string_view symbol = profile_.string(frame.symbol);
        if (frame.symbolOffset == TextFrame::kNoOffset)
            return std::string(symbol);
        return fmt::format("{}+{:#x}", symbol, frame.symbolOffset);
    }

    /// Waiting whose lock has no name.
    Weight unnamedWeight() const
    {
        Weight unnamed;
        for (const LockShare& lock : result_.locks) {
            if (!isNamed(lock.rung))
                unnamed += lock.weight;
        }
        return unnamed;
    }

    /// Functions of the list and locks in the text that the unnamed waiting may be about.
    void findCandidates(const Weight& unnamed)
    {
        CandidateList list(routines_, result_.context);
        for (const SymbolShare& share : result_.lockSymbols)
            list.printedFunction(share.symbol, valueText(share.weight));
        // A small unnamed rest is not worth the guesses that the whole list would give.
        constexpr uint64_t kOneIn = 20;
        if (unnamed.value >= result_.of(Category::Contention).value / kOneIn)
            addFunctionsAndMentions(list);
        result_.candidates = list.take();
        std::erase_if(result_.candidates, [&](const Candidate& candidate) {
            return std::any_of(result_.locks.begin(), result_.locks.end(),
                [&](const LockShare& lock) { return isNamed(lock.rung) && lock.name == candidate.name; });
        });
    }

    void addFunctionsAndMentions(CandidateList& list) const
    {
        std::map<std::string_view, Weight> bySymbol;
        for (const Cell& cell : section_.cells)
            bySymbol[profile_.leafSymbol(cell.stack)] += Weight(cell);
        for (const SymbolShare& share : result_.lockSymbols)
            bySymbol.erase(share.symbol);
        std::vector<std::pair<std::string_view, Weight>> symbols(bySymbol.begin(), bySymbol.end());
        std::stable_sort(symbols.begin(), symbols.end(),
            [](const auto& a, const auto& b) { return heavier(a.second, b.second); });
        for (const auto& [symbol, weight] : symbols)
            list.printedFunction(symbol, valueText(weight));
        for (const Fact& fact : profile_.inputs[section_.input].facts) {
            if (fact.kind == FactKind::Mention)
                list.mentioned(fact.value, fmt::format("line {}", fact.position.line));
        }
    }

    void sortAll()
    {
        const auto byWeight = [](const auto& a, const auto& b) { return heavier(a.weight, b.weight); };
        for (std::vector<SymbolShare>* list :
            {&result_.lockSymbols, &result_.idleSymbols, &result_.idleProbableSymbols, &result_.bounceSymbols,
                &result_.artefactSymbols, &result_.pauseLoops})
            std::stable_sort(list->begin(), list->end(), byWeight);
        std::stable_sort(result_.locks.begin(), result_.locks.end(), byWeight);
        for (LockShare& lock : result_.locks)
            std::stable_sort(lock.sites.begin(), lock.sites.end(), byWeight);
    }

    const Profile& profile_;
    const Section& section_;
    const RoutineTable& routines_;
    Attribution& result_;
    Classifier classifier_;
    std::map<const void*, std::unordered_map<std::string, size_t>> places_;          ///< by list, then key
    std::unordered_map<std::string, std::unordered_map<std::string, size_t>> sites_; ///< by lock, then name
};

} // namespace

std::string_view rungName(Rung rung)
{
    switch (rung) {
    case Rung::NamedInData:
        return "named-in-data";
    case Rung::Symbol:
        return "symbol";
    case Rung::UserSymbol:
        return "user-symbol";
    case Rung::Type:
        return "type";
    case Rung::Table:
        return "table";
    case Rung::SourceLine:
        return "source-line";
    case Rung::CallSite:
        return "call-site";
    case Rung::Unnamed:
        return "unnamed";
    }
    return "unnamed";
}

std::optional<SiteLock> lockOfSite(
    std::string_view function, const RoutineTable& routines, const RecordingContext& context)
{
    for (const Routine* row : routines.find(function.substr(0, function.find('+')), context.lookup())) {
        if (!row->isSiteHint())
            continue;
        if (const std::string_view lock = tableLock(*row, context); !lock.empty())
            return SiteLock{std::string(lock), eraText(context)};
    }
    return std::nullopt;
}

std::optional<SiteLock> lockOfSite(std::string_view function, std::span<const LockTake> takes, NamesOf names,
    const RecordingContext& context)
{
    const std::string_view plain = normalisedView(function.substr(0, function.find('+')));
    std::optional<KernelLock> lock = KernelLocks::builtIn().takenBy(plain, takes, tableEra(context));
    if (lock && names == NamesOf::MembersOnly)
        std::erase_if(
            lock->locks, [](const std::string& name) { return name.find("::") == std::string::npos; });
    if (!lock || lock->locks.empty())
        return std::nullopt;
    return SiteLock{lock->text(), basisOf(*lock, context)};
}

Attribution attribute(const Profile& profile, const Section& section, const RoutineTable& routines)
{
    Attribution result;
    result.context = recordingContextOf(profile, section, routines);
    Attributor(profile, section, routines, result).run();
    return result;
}

} // namespace whichlock
