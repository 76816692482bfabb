// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/perf_trace_events.h"

#include <cstring>

namespace whichlock {
namespace {

// Numbers of system calls that are the same on nearly all processors.
constexpr uint64_t kFutexWaitv = 449;
constexpr uint64_t kFutexWake = 454;
constexpr uint64_t kFutexWait = 455;

struct KnownEvent {
    std::string_view name;
    TraceEventKind kind;
    std::vector<std::string_view> fields;
};

/// Fields in the order in which replay() takes them.
const std::vector<KnownEvent>& knownEvents()
{
    static const std::vector<KnownEvent> kEvents = {
        {"lock:contention_begin", TraceEventKind::ContentionBegin, {"lock_addr", "flags"}},
        {"lock:contention_end", TraceEventKind::ContentionEnd, {"lock_addr", "ret"}},
        {"syscalls:sys_enter_futex", TraceEventKind::FutexEnter, {"uaddr", "op", "val", "utime", "uaddr2"}},
        {"syscalls:sys_exit_futex", TraceEventKind::FutexExit, {"ret"}},
        {"syscalls:sys_exit_futex_wait", TraceEventKind::FutexExit, {"ret"}},
        {"syscalls:sys_exit_futex_wake", TraceEventKind::FutexExit, {"ret"}},
        {"syscalls:sys_exit_futex_waitv", TraceEventKind::FutexExit, {"ret"}},
        {"sched:sched_switch", TraceEventKind::Switch,
            {"prev_pid", "prev_state", "next_pid", "prev_prio", "next_prio"}},
        {"sched:sched_waking", TraceEventKind::Waking, {"pid"}},
        {"sched:sched_wakeup", TraceEventKind::Wakeup, {"pid"}},
        {"sched:sched_wakeup_new", TraceEventKind::Wakeup, {"pid"}},
        {"mmap_lock:mmap_lock_start_locking", TraceEventKind::MmapLockStart, {"mm", "write"}},
        {"mmap_lock:mmap_lock_acquire_returned", TraceEventKind::MmapLockTaken, {"mm", "write", "success"}},
        {"mmap_lock:mmap_lock_released", TraceEventKind::MmapLockReleased, {"mm", "write"}},
        {"lock:lock_acquire", TraceEventKind::LockdepTry, {"lockdep_addr", "flags"}},
        {"lock:lock_contended", TraceEventKind::LockdepContended, {"lockdep_addr"}},
        {"lock:lock_acquired", TraceEventKind::LockdepAcquired, {"lockdep_addr"}},
        {"lock:lock_release", TraceEventKind::LockdepRelease, {"lockdep_addr"}},
    };
    return kEvents;
}

/// `mutex_acquired` of `mutex_acquired_2`: older perf numbers the places of one probe.
std::string_view withoutNumber(std::string_view probe)
{
    const size_t digits = probe.find_last_not_of("0123456789");
    const bool numbered =
        digits != std::string_view::npos && digits + 1 < probe.size() && probe[digits] == '_';
    return numbered ? probe.substr(0, digits) : probe;
}

/// What the name of a probe says. SDT probes of libc have fixed names; others were named by whoever set them.
TraceEventKind probeKind(std::string_view probe, bool sdt)
{
    if (sdt && probe.ends_with("_entry"))
        return TraceEventKind::ProbeRequested;
    if (sdt && (probe.ends_with("_acquired") || probe.find("_acquire_") != std::string_view::npos))
        return TraceEventKind::ProbeAcquired;
    if (sdt && (probe.ends_with("_release") || probe.ends_with("_unlock")))
        return TraceEventKind::ProbeReleased;
    return TraceEventKind::Probe;
}

void copyName(std::array<char, 16>& to, std::string_view from)
{
    std::memcpy(to.data(), from.data(), std::min(to.size() - 1, from.size()));
}

std::string_view nameOf(const std::array<char, 16>& name)
{
    return {name.data(), ::strnlen(name.data(), name.size())};
}

FutexCall futex2Call(FutexAction action, uint64_t word, uint64_t value, uint64_t flags)
{
    constexpr uint64_t kPrivate = 128;
    return {.action = action,
        .shared = (flags & kPrivate) == 0,
        .word = word,
        .value = static_cast<uint32_t>(value)};
}

/// Of a call that returned: what it returned was not recorded.
constexpr uint64_t kNoResult = UINT64_MAX;

/// The int that a call returned; the rest of its register is no part of it. Errors are small numbers: all
/// else is something else that was asked for.
std::optional<uint32_t> resultOf(uint64_t value)
{
    constexpr uint32_t kLargestError = 4095;
    const auto result = static_cast<uint32_t>(value);
    return value == kNoResult || result > kLargestError ? std::nullopt : std::optional(result);
}

constexpr uint64_t kDecodedFutex2 = uint64_t{1} << 63U; // in values[1]: not an operation of sys_futex

} // namespace

void PerfTraceEvents::findFields(Source& source, const std::vector<std::string_view>& names)
{
    for (const std::string_view name : names)
        source.fields.push_back(source.format->find(name));
}

void PerfTraceEvents::findLoads(Source& source)
{
    const size_t values = std::min(source.fields.size(), PerfTraceEvent().values.size());
    for (uint32_t i = 0; i < values; ++i) {
        const TracepointField* field = source.fields[i];
        if (field == nullptr || field->kind != TracepointFieldKind::Integer)
            continue;
        Load load{.value = i, .offset = field->offset, .isSigned = field->isSigned};
        constexpr uint32_t kMostOffset = 1U << 16U; // of a record
        if (field->offset < kMostOffset && (field->size == 4 || field->size == 8))
            load.bytes = field->size;
        source.loads.push_back(load);
    }
}

/// The first value that was asked for, of those behind a field.
void PerfTraceEvents::addFirstArgument(Source& source, const TracepointField& before)
{
    for (const TracepointField& field : source.format->fields) {
        if (field.offset > before.offset && field.kind == TracepointFieldKind::Integer) {
            source.fields.push_back(&field);
            return;
        }
    }
}

void PerfTraceEvents::recognise(Source& source, std::string_view name)
{
    for (const KnownEvent& known : knownEvents()) {
        if (known.name != name)
            continue;
        source.kind = known.kind;
        findFields(source, known.fields);
        if (known.kind == TraceEventKind::Switch) {
            source.previousName = source.format->find("prev_comm");
            source.nextName = source.format->find("next_comm");
        }
        return;
    }
    if (name == "raw_syscalls:sys_enter" || name == "raw_syscalls:sys_exit") {
        source.rawEnter = name.ends_with("enter");
        source.rawExit = !source.rawEnter;
        source.kind = source.rawEnter ? TraceEventKind::FutexEnter : TraceEventKind::FutexExit;
        findFields(source, {"id", source.rawEnter ? "args" : "ret"});
    } else if (name == "syscalls:sys_enter_futex_wait") {
        source.kind = TraceEventKind::FutexEnter;
        source.futexAction = FutexAction::Wait;
        findFields(source, {"uaddr", "val", "flags"});
    } else if (name == "syscalls:sys_enter_futex_wake") {
        source.kind = TraceEventKind::FutexEnter;
        source.futexAction = FutexAction::Wake;
        findFields(source, {"uaddr", "nr", "flags"});
    } else if (name == "syscalls:sys_enter_futex_waitv") {
        source.kind = TraceEventKind::FutexEnter;
        source.futexAction = FutexAction::WaitMany;
        findFields(source, {"waiters", "nr_futexes", "flags"});
    } else if (const TracepointField* from = source.format->find("__probe_ret_ip")) {
        source.kind = TraceEventKind::ProbeReturn;
        addFirstArgument(source, *from);
    } else if (const TracepointField* ip = source.format->find("__probe_ip")) {
        const bool sdt = name.starts_with("sdt_");
        source.kind = probeKind(withoutNumber(name.substr(std::min(name.size(), name.find(':') + 1))), sdt);
        addFirstArgument(source, *ip); // the lock
    }
}

void PerfTraceEvents::event(const PerfEvent& event)
{
    constexpr uint32_t kMostEvents = 1U << 16U;
    if (event.index >= kMostEvents)
        return;
    if (sources_.size() <= event.index)
        sources_.resize(event.index + size_t{1});
    Source source;
    source.format = event.format;
    if (event.attr.type == perf_type::kTracepoint && source.format)
        recognise(source, event.name);
    if (source.kind) {
        any_ = true;
        switches_ = switches_ || source.kind == TraceEventKind::Switch;
        sampled_ = sampled_ || event.attr.has(PerfAttrFlag::Frequency) || event.attr.samplePeriod > 1;
    }
    findLoads(source);
    sources_[event.index] = std::move(source);
}

void PerfTraceEvents::setArch(std::string_view arch)
{
    constexpr std::array<std::pair<std::string_view, uint64_t>, 10> kNumbers = {
        {{"x86_64", 202}, {"i386", 240}, {"i686", 240}, {"aarch64", 98}, {"arm64", 98}, {"riscv64", 98},
            {"loongarch64", 98}, {"ppc64", 221}, {"ppc64le", 221}, {"s390x", 238}}};
    for (const auto& [name, number] : kNumbers) {
        if (name == arch)
            futexCall_ = number;
    }
}

/// Of all system calls: false for those that are none of futex.
bool PerfTraceEvents::decodeRaw(const Source& source, const PerfSample& sample, PerfTraceEvent& event) const
{
    const uint64_t call = event.values[0];
    const bool futex2 = call == kFutexWake || call == kFutexWait || call == kFutexWaitv;
    if (call != futexCall_ && !futex2)
        return false;
    if (source.rawExit) {
        event.values[0] = event.values[1];
        return true;
    }
    const TracepointField* args = source.fields[1];
    if (args == nullptr || args->size < 6 || args->size % 6 != 0)
        return false;
    const size_t bytes = args->size / 6;
    std::array<uint64_t, 5> values{};
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = tracepointElement(sample.raw, sample.rawOrder, *args, i, bytes).value_or(0);
    event.values = values;
    if (futex2) {
        const FutexAction action = call == kFutexWait ? FutexAction::Wait
            : call == kFutexWake                      ? FutexAction::Wake
                                                      : FutexAction::WaitMany;
        const uint64_t value = call == kFutexWake ? values[2] : values[1];
        const uint64_t flags = call == kFutexWaitv ? values[2] : values[3];
        event.values = {values[0], kDecodedFutex2 | static_cast<uint64_t>(action), value, flags, 0};
    }
    return true;
}

/// Most values are whole integers of four or eight bytes at a place that is known before the first sample.
void PerfTraceEvents::loadValues(const Source& source, const PerfSample& sample, PerfTraceEvent& event)
{
    for (const Load& load : source.loads) {
        uint64_t& value = event.values[load.value];
        if (load.bytes == 0 || load.offset + load.bytes > sample.raw.size()) {
            value = tracepointInteger(sample.raw, sample.rawOrder, *source.fields[load.value]).value_or(0);
            continue;
        }
        const char* const at = sample.raw.data() + load.offset;
        if (load.bytes == sizeof(uint64_t)) {
            value = loadInteger<uint64_t>(at, sample.rawOrder);
            continue;
        }
        const auto half = loadInteger<uint32_t>(at, sample.rawOrder);
        value = load.isSigned ? static_cast<uint64_t>(int64_t{static_cast<int32_t>(half)}) : half;
    }
}

bool PerfTraceEvents::decode(const PerfSample& sample, PerfTraceEvent& event) const
{
    if (sample.event >= sources_.size() || !sources_[sample.event].kind || !sample.has(sample_bit::kTime))
        return false;
    const Source& source = sources_[sample.event];
    event.kind = *source.kind;
    event.at.timeNs = sample.time;
    event.at.pid = static_cast<int32_t>(sample.pid);
    event.at.tid = static_cast<int32_t>(sample.tid);
    event.at.cpu = sample.cpu;
    loadValues(source, sample, event);
    if ((source.rawEnter || source.rawExit) && !decodeRaw(source, sample, event))
        return false;
    if (source.futexAction != FutexAction::None)
        event.values = {event.values[0], kDecodedFutex2 | static_cast<uint64_t>(source.futexAction),
            event.values[1], event.values[2], 0};
    if (event.kind == TraceEventKind::ProbeReturn && source.fields.empty())
        event.values[0] = kNoResult;
    if (source.previousName != nullptr)
        copyName(event.previousName, tracepointText(sample.raw, sample.rawOrder, *source.previousName));
    if (source.nextName != nullptr)
        copyName(event.nextName, tracepointText(sample.raw, sample.rawOrder, *source.nextName));
    return true;
}

namespace {

FutexCall futexCallOf(const std::array<uint64_t, 5>& values)
{
    if ((values[1] & kDecodedFutex2) != 0)
        return futex2Call(static_cast<FutexAction>(values[1] & 0xffU), values[0], values[2], values[3]);
    return decodeFutexCall(values[0], values[1], values[2], values[3], values[4]);
}

RecordedLock mmapLock(const std::array<uint64_t, 5>& values)
{
    return {.address = values[0],
        .reason = (values[1] & 1U) != 0 ? WaitReason::RwlockWrite : WaitReason::RwlockRead,
        .kind = LockKind::MmapLock};
}

void replayRecordedHolds(const PerfTraceEvent& event, const TraceMoment& at, TraceAnalyser& analyser)
{
    const RecordedLock kernel{.address = event.values[0]};
    const RecordedLock user{.user = true, .address = event.values[0]};
    switch (event.kind) {
    case TraceEventKind::MmapLockStart:
        return analyser.lockRequested(at, mmapLock(event.values));
    case TraceEventKind::MmapLockTaken:
        return analyser.lockAcquired(at, mmapLock(event.values), (event.values[2] & 1U) != 0);
    case TraceEventKind::MmapLockReleased:
        return analyser.lockReleased(at, mmapLock(event.values));
    case TraceEventKind::LockdepTry:
        if ((event.values[1] & 1U) != 0) // a trylock; others tell later that they got it
            analyser.lockAcquired(at, kernel, true);
        return;
    case TraceEventKind::LockdepContended:
        return analyser.lockRequested(at, kernel);
    case TraceEventKind::LockdepAcquired:
        return analyser.lockAcquired(at, kernel, true);
    case TraceEventKind::LockdepRelease:
        return analyser.lockReleased(at, kernel);
    case TraceEventKind::ProbeRequested:
        return analyser.lockRequested(at, user);
    case TraceEventKind::ProbeAcquired:
        return analyser.lockAcquired(at, user, true);
    case TraceEventKind::ProbeReleased:
        return analyser.lockReleased(at, user);
    case TraceEventKind::Probe:
        return analyser.probe(at, event.values[0]);
    case TraceEventKind::ProbeReturn:
        return analyser.probeReturn(at, resultOf(event.values[0]));
    default:
        return;
    }
}

} // namespace

UserWords userWordsOf(const PerfTraceEvent& event)
{
    switch (event.kind) {
    case TraceEventKind::FutexEnter: {
        const FutexCall call = futexCallOf(event.values);
        if (call.action == FutexAction::Requeue)
            return {call.secondWord};
        if (!isFutexWait(call.action))
            return call.shared ? UserWords{call.word, call.secondWord} : UserWords{};
        return possibleBegins(call);
    }
    case TraceEventKind::Probe:
    case TraceEventKind::ProbeRequested:
    case TraceEventKind::ProbeAcquired:
    case TraceEventKind::ProbeReleased:
        return {event.values[0]};
    default:
        return {};
    }
}

void replay(const PerfTraceEvent& event, TraceStackId stack, TraceAnalyser& analyser)
{
    TraceMoment at = event.at;
    at.stack = stack;
    const std::array<uint64_t, 5>& values = event.values;
    switch (event.kind) {
    case TraceEventKind::ContentionBegin:
        return analyser.contentionBegin(at, values[0], static_cast<uint32_t>(values[1]));
    case TraceEventKind::ContentionEnd:
        return analyser.contentionEnd(at, values[0], static_cast<int32_t>(values[1]));
    case TraceEventKind::FutexEnter:
        return analyser.futexEnter(at, futexCallOf(values));
    case TraceEventKind::FutexExit:
        return analyser.futexExit(at, static_cast<int64_t>(values[0]));
    case TraceEventKind::Switch:
        return analyser.contextSwitch(at,
            {.previous = static_cast<int32_t>(values[0]),
                .previousState = values[1],
                .previousName = nameOf(event.previousName),
                .next = static_cast<int32_t>(values[2]),
                .nextName = nameOf(event.nextName),
                .previousPriority = static_cast<int32_t>(values[3]),
                .nextPriority = static_cast<int32_t>(values[4])});
    case TraceEventKind::Waking:
        return analyser.waking(at, static_cast<int32_t>(values[0]));
    case TraceEventKind::Wakeup:
        return analyser.wakeup(at, static_cast<int32_t>(values[0]));
    default:
        return replayRecordedHolds(event, at, analyser);
    }
}

} // namespace whichlock
