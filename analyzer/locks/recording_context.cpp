// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/locks/recording_context.h"

#include <algorithm>
#include <array>
#include <map>

namespace whichlock {
namespace {

struct VersionClaim {
    std::string text;
    KernelVersion version;
};

std::optional<VersionClaim> versionIn(std::string_view text)
{
    constexpr std::string_view kDigits = "0123456789";
    const size_t at = text.find_first_of(kDigits);
    if (at == std::string_view::npos)
        return std::nullopt;
    const auto version = KernelVersion::parse(text.substr(at));
    constexpr uint16_t kFirstLinux = 1;
    constexpr uint16_t kLastPlausible = 9;
    if (!version || version->parts < 3 || version->part[0] < kFirstLinux || version->part[0] > kLastPlausible)
        return std::nullopt;
    return VersionClaim{std::string(text.substr(at)), *version};
}

/// `2.6.9-rc1`, `2.4.20pre7`, `2.6.12-rc5-git9`: not yet what the version became.
bool isPreview(std::string_view text)
{
    const std::string_view rest = text.substr(std::min(text.find_first_not_of("0123456789."), text.size()));
    return rest.starts_with("-rc") || rest.starts_with("-pre") || rest.starts_with("pre");
}

/// The version before, of the same series or the one before it.
KernelVersion before(KernelVersion version)
{
    constexpr size_t kSeries = 1;
    constexpr size_t kPatch = 2;
    version.parts = std::min<decltype(version.parts)>(version.parts, kPatch + 1);
    if (version.parts > kPatch && version.part[kPatch] > 0) {
        --version.part[kPatch];
    } else if (version.part[kSeries] > 0) {
        --version.part[kSeries];
        version.parts = kSeries + 1;
        version.part[kPatch] = 0;
    }
    version.part.back() = 0;
    return version;
}

/// The era that several mentions span, if they are of one series; mails name the kernels they compare.
void useVersions(const std::vector<VersionClaim>& claims, std::string_view source, RecordingContext& context)
{
    if (claims.empty() || context.era)
        return;
    const auto [low, high] = std::minmax_element(claims.begin(), claims.end(),
        [](const VersionClaim& a, const VersionClaim& b) { return a.version < b.version; });
    if (low->version.part[0] != high->version.part[0] || low->version.part[1] != high->version.part[1])
        return;
    context.era = Era{isPreview(low->text) ? before(low->version) : low->version, high->version};
    context.kernel =
        low->version == high->version ? low->text : toString(low->version) + "-" + toString(high->version);
    context.kernelSource = source;
}

std::vector<VersionClaim> versionsInFacts(const std::vector<Fact>& facts, FactKind kind)
{
    std::vector<VersionClaim> claims;
    for (const Fact& fact : facts) {
        if (fact.kind != kind)
            continue;
        if (auto claim = versionIn(fact.value))
            claims.push_back(std::move(*claim));
    }
    return claims;
}

/// The version of a kernel that a section's title names: `12 CPUs 2.6.23-rc6 base`, `kernel 2.6.9: reads`.
/// Other software has versions too: the word needs a kernel's suffix or the word for it in front.
std::vector<VersionClaim> versionsInTitle(std::string_view title)
{
    constexpr std::array<std::string_view, 8> kSuffixes = {
        "-rc", "-pre", "-mm", "-ac", "-aa", "-bk", "-test", "pre"};
    constexpr std::array<std::string_view, 6> kNames = {
        "kernel", "Kernel", "linux", "Linux", "vanilla", "mainline"};
    std::vector<VersionClaim> claims;
    std::string_view before;
    while (!title.empty()) {
        const size_t end = std::min(title.find_first_of(" ,:;()"), title.size());
        const std::string_view word = title.substr(0, end);
        title.remove_prefix(std::min(end + 1, title.size()));
        if (word.empty())
            continue;
        const bool named = std::find(kNames.begin(), kNames.end(), before) != kNames.end();
        before = word;
        if (word.front() < '1' || word.front() > '9')
            continue;
        const std::string_view rest =
            word.substr(std::min(word.find_first_not_of("0123456789."), word.size()));
        const bool suffixed = std::any_of(kSuffixes.begin(), kSuffixes.end(),
            [&](std::string_view suffix) { return rest.starts_with(suffix); });
        if (!named && !suffixed)
            continue;
        if (auto claim = versionIn(word))
            claims.push_back(std::move(*claim));
    }
    return claims;
}

/// Versions among the labels of benchmark tables of the same input (`2.6.8.1-mm1+nodespan`).
std::vector<VersionClaim> versionsInLabels(const Profile& profile, uint32_t input)
{
    std::vector<VersionClaim> claims;
    const auto take = [&](std::string_view label) {
        if (label.empty() || label.front() < '0' || label.front() > '9')
            return;
        if (auto claim = versionIn(label))
            claims.push_back(std::move(*claim));
    };
    for (const Section& section : profile.sections) {
        if (section.input != input)
            continue;
        for (const TableRecord& table : section.tables) {
            for (const TableRow& row : table.rows)
                take(row.label);
        }
    }
    return claims;
}

bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

/// `2.6.8 to 2.6.32`; an upper end that only names the series of the lower one is left open within it.
std::string eraRange(const KernelVersion& since, const KernelVersion& until)
{
    const bool sameSeries = until.parts <= since.parts
        && std::equal(until.part.begin(), until.part.begin() + until.parts, since.part.begin());
    if (!sameSeries)
        return toString(since) + " to " + toString(until);
    return until.parts == since.parts ? toString(since) : toString(since) + " to " + toString(until) + ".x";
}

/// The era in which a symbol existed at all, by the kernel's rows of it; nothing if it is no lock routine or
/// may as well be something that all eras had.
std::optional<Era> eraOfSymbol(const std::vector<const Routine*>& rows)
{
    std::optional<Era> all;
    for (const Routine* row : rows) {
        if (!row->isKernel() || row->isSiteHint())
            continue;
        if (row->roles.has(Role::Idle))
            return std::nullopt;
        if (!all) {
            all = row->era;
            continue;
        }
        // Of a symbol with several lives only the beginning of the first is sure.
        const auto& since = row->era.since;
        all->since = all->since && since ? std::min(all->since, since) : std::nullopt;
        all->until.reset();
    }
    return all;
}

/// The era that the lock symbols of the section leave, if it has both ends: names come and go with kernels.
void useSymbolEras(
    const Profile& profile, const Section& section, const RoutineTable& routines, RecordingContext& context)
{
    if (context.era)
        return;
    std::optional<Era> era = Era{};
    for (const Cell& cell : section.cells) {
        const std::optional<Era> only =
            eraOfSymbol(routines.find(profile.leafSymbol(cell.stack), context.lookup()));
        if (only && (only->since || only->until) && era)
            era = era->intersect(*only);
    }
    context.symbolEra = era.value_or(Era{});
    if (era && era->since && era->until) {
        context.era = era;
        context.kernel = eraRange(*era->since, *era->until);
        context.kernelSource = "symbols";
    }
}

/// The processor whose symbols weigh most, where symbols exist on one processor only.
void useSymbolArch(
    const Profile& profile, const Section& section, const RoutineTable& routines, RecordingContext& context)
{
    if (!context.arch.empty())
        return;
    constexpr std::array<std::string_view, 6> kMachines = {
        "ia64", "ppc64", "i386", "x86_64", "s390", "sparc64"};
    std::array<uint64_t, kMachines.size()> votes{};
    for (const Cell& cell : section.cells) {
        const std::string_view symbol = profile.leafSymbol(cell.stack);
        const auto rows = routines.find(symbol, context.lookup());
        if (rows.empty())
            continue;
        for (size_t i = 0; i < kMachines.size(); ++i) {
            const ArchSet machine = ArchSet::ofMachine(kMachines[i]);
            const bool here = std::all_of(rows.begin(), rows.end(),
                [&](const Routine* row) { return !row->arch.all() && row->arch.processors() == machine; });
            if (here)
                votes[i] += cell.samples;
        }
        // Function descriptors of ppc64 leave a dot in front of the names of code.
        if (symbol.starts_with("._") || symbol.starts_with(".trampoline"))
            votes[1] += cell.samples;
    }
    const auto best = std::max_element(votes.begin(), votes.end());
    if (*best == 0)
        return;
    context.arch = kMachines[static_cast<size_t>(best - votes.begin())];
    context.archSource = "symbols";
}

/// Without a command line: what the event says of itself.
void useScopeFact(const Section& section, RecordingContext& context)
{
    const bool process = std::any_of(section.facts.begin(), section.facts.end(), [](const Fact& fact) {
        return fact.kind == FactKind::Scope && fact.value == scopeName(RecordedScope::Process);
    });
    if (process && context.recorded.scope == RecordedScope::Unknown)
        context.recorded.scope = RecordedScope::Process;
}

/// Without a command line: the idle task stands in recordings of the machine only.
void useSampledProcesses(const Profile& profile, const Section& section, RecordingContext& context)
{
    if (context.recorded.scope != RecordedScope::Unknown || section.samples == 0)
        return;
    const bool idleTask = std::any_of(section.cells.begin(), section.cells.end(), [&](const Cell& cell) {
        return cell.group && profile.group(cell.group).pid == 0
            && profile.string(profile.group(cell.group).comm).starts_with("swapper");
    });
    if (idleTask)
        context.recorded.scope = RecordedScope::Machine;
}

void useEvent(const Section& section, RecordingContext& context)
{
    const std::string& event = section.record.event;
    const std::string& format = section.record.format;
    if (format == "readprofile" || event.starts_with("cpu-clock") || event.starts_with("task-clock"))
        context.nmi = NmiSafety::NotSafe; // driven by the timer interrupt
    else if (event.starts_with("cycles") || contains(event, "CLK") || contains(event, "GLOBAL_POWER"))
        context.nmi = NmiSafety::Safe;
    for (const Fact& fact : section.facts) {
        if (fact.kind == FactKind::EventDescription && contains(fact.value, "timer interrupt"))
            context.nmi = NmiSafety::NotSafe;
    }
    constexpr std::array<std::string_view, 12> kNoTime = {"CACHE", "MISS", "LINES_IN", "REFERENCE", "INST",
        "instructions", "misses", "references", "branch", "BRANCH", "faults", "TLB"};
    context.measuresTime = std::none_of(
        kNoTime.begin(), kNoTime.end(), [&](std::string_view word) { return contains(event, word); });
    if (section.record.quantity != QuantityKind::Cpu)
        context.measuresTime = false;
    const size_t colon = event.rfind(':');
    const std::string_view modifiers =
        colon == std::string::npos ? std::string_view() : std::string_view(event).substr(colon + 1);
    context.userOnly = contains(modifiers, "u") && !contains(modifiers, "k");
}

} // namespace

RecordingContext recordingContextOf(
    const Profile& profile, const Section& section, const RoutineTable& routines)
{
    RecordingContext context;
    const std::vector<Fact>& inputFacts = profile.inputs[section.input].facts;
    for (const std::vector<Fact>* facts : {&section.facts, &inputFacts}) {
        for (const Fact& fact : *facts) {
            if (fact.kind == FactKind::Arch && context.arch.empty()) {
                context.arch = fact.value;
                context.archSource = "header";
            }
            if (fact.kind == FactKind::Command && context.recorded.scope == RecordedScope::Unknown)
                context.recorded = parseRecordCommand(fact.value);
        }
    }
    useScopeFact(section, context);
    useSampledProcesses(profile, section, context);
    useVersions(versionsInFacts(section.facts, FactKind::Kernel), "header", context);
    useVersions(versionsInFacts(section.facts, FactKind::Image), "image name", context);
    useVersions(versionsInTitle(section.record.title), "title", context);
    const std::string& format = section.record.format;
    const bool hasHeader = format == "perf.data" || format == "perf-script" || format == "lockmeter";
    const char* const source = hasHeader ? "header" : "text";
    useVersions(versionsInFacts(inputFacts, FactKind::Kernel), source, context);
    useVersions(versionsInLabels(profile, section.input), "table labels", context);
    useSymbolArch(profile, section, routines, context);
    useSymbolEras(profile, section, routines, context);
    useEvent(section, context);
    if (context.arch == "ppc64" && context.nmi == NmiSafety::Unknown)
        context.nmi =
            NmiSafety::NotSafe; // interrupts are disabled softly: samples land where they are enabled
    return context;
}

} // namespace whichlock
