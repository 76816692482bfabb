// SPDX-License-Identifier: GPL-3.0-or-later
// Wait profiles: stacks of threads that were off their processors or waited for a lock, with the time of
// each. What was waited for is told by the functions of the stack; waits for locks become a table of locks.
#include "analyzer/report/groups.h"
#include "analyzer/report/section_builders.h"
#include "analyzer/traces/stack_classifier.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace whichlock {
namespace {

constexpr std::string_view kUnknown = "[unknown]";

/// What the time off the processor was for; the order of the account.
enum class Cause : uint8_t { Lock, Condition, Io, Runnable, Idle, Other, Untold };
constexpr size_t kCauses = 7;

struct CauseWords {
    const char* key;
    const char* what;
};
constexpr std::array<CauseWords, kCauses> kCauseWords = {{{"lock", "waiting for a lock"},
    {"condition", "waiting for a condition, a channel, a child"}, {"io", "waiting for a disk or for memory"},
    {"runnable", "waiting for a processor"}, {"sleep", "asleep, polling, or without work"},
    {"other", "waiting for something else"}, {"untold", "the stack does not tell"}}};

Cause causeOf(WaitReason reason)
{
    switch (reason) {
    case WaitReason::Mutex:
    case WaitReason::RwlockRead:
    case WaitReason::RwlockWrite:
    case WaitReason::Once:
        return Cause::Lock;
    case WaitReason::Condition:
    case WaitReason::Join:
    case WaitReason::Barrier:
        return Cause::Condition;
    case WaitReason::Io:
    case WaitReason::PageFault:
    case WaitReason::Reclaim:
        return Cause::Io;
    case WaitReason::Sleep:
    case WaitReason::Poll:
        return Cause::Idle;
    case WaitReason::Semaphore:
    case WaitReason::Other:
    case WaitReason::GracePeriod:
        return Cause::Other;
    case WaitReason::Unknown:
        break;
    }
    return Cause::Untold;
}

bool isKernelObject(std::string_view object)
{
    return object.starts_with("[kernel") || object.starts_with("[guest.kernel");
}

bool isKernelEntry(std::string_view function)
{
    constexpr std::string_view kBegins[] = {"entry_SYSCALL", "do_syscall_64", "ret_from_fork", "system_call",
        "sysenter", "page_fault", "async_page_fault", "asm_", "el0", "ret_fast_syscall", "kthread"};
    return std::any_of(std::begin(kBegins), std::end(kBegins),
        [&](std::string_view begin) { return function.starts_with(begin); });
}

bool isScheduler(std::string_view function)
{
    return function == "schedule" || function == "__schedule" || function.starts_with("schedule_")
        || function.starts_with("finish_task_switch") || function.starts_with("io_schedule");
}

/// Below a futex the kernel does not know what is waited for: the program does.
bool isFutex(std::span<const NamedFrame> kernel)
{
    return std::any_of(kernel.begin(), kernel.end(),
        [](const NamedFrame& frame) { return frame.function.find("futex") != std::string_view::npos; });
}

/// Marks the kernel's frames, at the inner end of the stack: by the object, else up to where programs enter
/// the kernel. A stack that ends in the scheduler and shows no entry has frames of the kernel only.
void markKernel(std::vector<NamedFrame>& frames)
{
    if (std::any_of(frames.begin(), frames.end(), [](const NamedFrame& frame) { return frame.kernel; }))
        return;
    const auto isEntry = [](const NamedFrame& frame) { return isKernelEntry(frame.function); };
    auto end = std::find_if(frames.begin(), frames.end(), isEntry);
    if (end == frames.end() && (frames.empty() || !isScheduler(frames.front().function)))
        return;
    while (end != frames.end() && isEntry(*end))
        ++end;
    std::for_each(frames.begin(), end, [](NamedFrame& frame) { frame.kernel = true; });
}

class WaitSectionBuilder {
public:
    WaitSectionBuilder(
        const Profile& profile, const Section& section, const RoutineTable& routines, ReportSection& out)
        : profile_(profile)
        , section_(section)
        , context_(recordingContextOf(profile, section, routines))
        , classifier_(routines, context_.lookup())
        , out_(out)
    {
    }

    /// The waits for locks.
    LockTableRecord run()
    {
        table_.key = LockTableKey::Site;
        table_.givenBack = section_.record.waits == WaitStacks::Holders;
        commonLeaf_ = section_.record.waits != WaitStacks::OffCpu && haveCommonLeaf();
        std::set<StringId> comms;
        for (const Cell& cell : section_.cells) {
            add(cell);
            if (cell.group)
                comms.insert(profile_.group(cell.group).comm);
        }
        out_.comms = comms.size();
        table_.rowsPrinted = section_.samples != 0 ? section_.cells.size() : section_.rows;
        addAccount();
        return std::move(table_);
    }

    void addCoverage() const
    {
        Coverage& sees = out_.sees;
        const WaitStacks stacks = section_.record.waits;
        sees = {};
        sees.callers = stacks == WaitStacks::Holders ? Sees::No : Sees::Yes;
        sees.holders = stacks == WaitStacks::Holders ? Sees::Yes : Sees::No;
        sees.userSleep = stacks == WaitStacks::OffCpu && !anyUser_ ? Sees::No : Sees::Partly;
        sees.kernelSleep = anyKernel_ ? Sees::Yes : Sees::No;
    }

private:
    struct Sum {
        uint64_t value = 0;
        uint64_t samples = 0;
    };

    struct Frames {
        std::vector<NamedFrame> named{};
        std::vector<StackId> stacks{};
    };

    Frames framesOf(StackId stack) const
    {
        Frames frames;
        for (StackId at = stack; at; at = profile_.stack(at).parent) {
            const Frame& frame = profile_.frame(profile_.stack(at).frame);
            const std::string_view symbol = profile_.string(frame.symbol);
            frames.named.push_back({symbol == kUnknown ? std::string_view() : symbol,
                isKernelObject(profile_.string(frame.object)), false});
            frames.stacks.push_back(at);
        }
        markKernel(frames.named);
        return frames;
    }

    /// Profiles without names: the function that all stacks end in is the one that waits.
    bool haveCommonLeaf() const
    {
        constexpr size_t kFewest = 2;
        const FrameId none;
        FrameId common = none;
        size_t stacks = 0;
        for (const Cell& cell : section_.cells) {
            if (!cell.stack)
                continue;
            const FrameId leaf = profile_.stack(cell.stack).frame;
            if ((common != none && leaf != common) || !profile_.stack(cell.stack).parent)
                return false;
            common = leaf;
            ++stacks;
        }
        return stacks >= kFewest;
    }

    void add(const Cell& cell)
    {
        const Frames frames = framesOf(cell.stack);
        const std::span<const NamedFrame> all(frames.named);
        const auto user =
            std::find_if(all.begin(), all.end(), [](const NamedFrame& frame) { return !frame.kernel; });
        const size_t kernel = static_cast<size_t>(user - all.begin());
        anyKernel_ = anyKernel_ || kernel != 0;
        anyUser_ = anyUser_ || kernel != all.size();
        const Wait wait = section_.record.waits == WaitStacks::OffCpu ? waitOf(all, kernel) : lockWaitOf(all);
        Sum& sum = sums_[static_cast<size_t>(wait.cause)];
        sum.value += cell.weight; // the section has checked that all of them fit
        sum.samples += cell.samples;
        if (wait.cause == Cause::Lock)
            addRow(cell, wait.reason,
                wait.site < all.size() ? siteName(frames.stacks[wait.site]) : std::string());
    }

    /// What a stack says: why, and of waits for locks the frame that takes it.
    struct Wait {
        Cause cause = Cause::Untold;
        WaitReason reason = WaitReason::Unknown;
        size_t site = SIZE_MAX;
    };

    Wait waitOf(std::span<const NamedFrame> all, size_t kernel)
    {
        const std::span<const NamedFrame> inner = all.first(kernel);
        if (!isFutex(inner)) {
            const TraceStackClass known = classifier_.classify(inner);
            if (known.wait != WaitReason::Unknown) {
                const size_t sleeps = classifier_.sleepSiteOf(inner);
                return {causeOf(known.wait), known.wait, sleeps + classifier_.siteOf(inner.subspan(sleeps))};
            }
            if (known.leave != LeaveReason::Unknown && known.leave != LeaveReason::Yield)
                return {.cause = Cause::Runnable};
        }
        const std::span<const NamedFrame> outer = all.subspan(kernel);
        const WaitReason reason = classifier_.classify(outer).wait;
        return {causeOf(reason), reason, kernel + classifier_.siteOf(outer)};
    }

    /// Where all stacks are of waits for locks.
    Wait lockWaitOf(std::span<const NamedFrame> all)
    {
        const WaitReason reason = classifier_.classify(all).wait;
        return {Cause::Lock, isLockReason(reason) ? reason : WaitReason::Mutex, siteOfLock(all)};
    }

    size_t siteOfLock(std::span<const NamedFrame> all)
    {
        const size_t site = classifier_.siteOf(all);
        return site == 0 && commonLeaf_ ? 1 : site;
    }

    std::string siteName(StackId stack) const
    {
        const Frame& frame = profile_.frame(profile_.stack(stack).frame);
        std::string name(profile_.string(frame.symbol));
        return name == kUnknown ? std::string() : name;
    }

    /// A row for each place and side.
    void addRow(const Cell& cell, WaitReason reason, std::string site)
    {
        const char* const side = reason == WaitReason::RwlockRead ? "read"
            : reason == WaitReason::RwlockWrite                   ? "write"
                                                                  : "";
        const auto [entry, isNew] = rows_.try_emplace({side, site}, table_.rows.size());
        if (isNew)
            table_.rows.push_back({.side = side, .site = std::move(site)});
        LockTableRow& row = table_.rows[entry->second];
        row.wait.totalNs = row.wait.totalNs.value_or(0) + cell.weight;
        if (section_.samples != 0)
            row.contentions = row.contentions.value_or(0) + cell.samples;
    }

    void addAccount() const
    {
        const uint64_t whole = section_.weight;
        const auto part = [&](uint64_t value, uint64_t samples) {
            return Part{.value = value, .samples = samples, .ofTotal = shareOf(value, whole), .ofBusy = {}};
        };
        out_.account.push_back({"total", "total", 0, false, part(whole, section_.samples)});
        for (size_t i = 0; i < kCauses; ++i) {
            if (sums_[i].value != 0 || i == static_cast<size_t>(Cause::Lock))
                out_.account.push_back({kCauseWords[i].what, kCauseWords[i].key, 1, true,
                    part(sums_[i].value, sums_[i].samples)});
        }
    }

    const Profile& profile_;
    const Section& section_;
    RecordingContext context_;
    StackClassifier classifier_;
    ReportSection& out_;
    LockTableRecord table_;
    std::map<std::pair<std::string, std::string>, size_t> rows_; ///< by side and place
    std::array<Sum, kCauses> sums_{};
    bool commonLeaf_ = false;
    bool anyKernel_ = false;
    bool anyUser_ = false;
};

} // namespace

void buildWaitSection(const Profile& profile, const Section& section, const RoutineTable& routines,
    const Query& query, ReportSection& out)
{
    WaitSectionBuilder waits(profile, section, routines, out);
    const LockTableRecord table = waits.run();
    buildLockTable(profile, section, table, routines, out);
    waits.addCoverage();
    out.rows = table.rowsPrinted;
    out.total = section.weight;
    out.totalBasis = "sum of the listed rows";
    out.listed = section.weight;
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
