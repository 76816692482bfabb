// SPDX-License-Identifier: GPL-3.0-or-later
// What a reader of perf.data delivers, in the order of the file or of time. Numbers are in host byte order;
// texts and spans are valid during the call. In the order of the file finishedRound() tells how far to sort.
#pragma once

#include "parsers/diagnostic.h"
#include "parsers/perf_data/host_facts.h"
#include "parsers/perf_data/record_types.h"
#include "parsers/perf_data/sample.h"
#include "parsers/perf_data/tracepoint_format.h"

#include <memory>

namespace whichlock {

/// Where the name of an event comes from; later ones are better.
enum class PerfNameOrigin : uint8_t {
    Synthesized, ///< from type and config
    EventTypes,  ///< the list of the first perf versions
    TracingData, ///< `system:name` by the number of the tracepoint
    Described,   ///< EVENT_DESC or EVENT_UPDATE
};

struct PerfEvent {
    uint32_t index = 0;
    PerfAttr attr{};
    std::string name{};
    PerfNameOrigin nameOrigin = PerfNameOrigin::Synthesized;
    std::vector<uint64_t> ids{}; ///< of its counters, one a processor or thread
    /// Fields of the raw data of a tracepoint; null when neither the file nor the built-in list has them.
    std::shared_ptr<const TracepointFormat> format{};
};

/// The record that something was found in.
struct PerfRecord {
    uint32_t type = 0;
    uint16_t misc = 0;
    uint16_t size = 0;
    uint64_t offset = 0;     ///< in its file; of the COMPRESSED record for what was inside one
    uint32_t part = 0;       ///< 0: the file itself; n + 1: `data.n` of a directory
    bool compressed = false; ///< it was inside a COMPRESSED record
    PerfSampleId id{};       ///< when and where a record that is no sample happened, where recorded

    /// Where the processor was.
    PerfCpuMode cpuMode() const
    {
        const auto mode = static_cast<uint8_t>(misc & perf_misc::kCpuModeMask);
        return mode <= 5 ? static_cast<PerfCpuMode>(mode) : PerfCpuMode::Unknown;
    }
    bool has(uint16_t miscBit) const { return (misc & miscBit) != 0; }
};

constexpr size_t kBuildIdBytes = 20;

struct PerfBuildId {
    int32_t pid = 0;             ///< -1: the host
    uint16_t misc = 0;           ///< its cpu mode tells kernel from user
    std::string_view id{};       ///< at most kBuildIdBytes, in bytes
    std::string_view fileName{}; ///< `[kernel.kallsyms]`, a path, `[vdso]`
};

/// MMAP and MMAP2.
struct PerfMapping {
    uint32_t pid = 0; ///< UINT32_MAX: the kernel's own
    uint32_t tid = 0;
    uint64_t start = 0;
    uint64_t length = 0;
    uint64_t pageOffset = 0; ///< in bytes
    std::string_view fileName{};
    bool isData = false;      ///< not executable, by the record's flag
    bool hasDetails = false;  ///< protection and flags, of MMAP2
    uint32_t protection = 0;  ///< PROT_*
    uint32_t flags = 0;       ///< MAP_*
    uint32_t deviceMajor = 0; ///< the file's identity; zeros when a build id was recorded instead
    uint32_t deviceMinor = 0;
    uint64_t inode = 0;
    uint64_t inodeGeneration = 0;
    std::string_view buildId{};
};

struct PerfComm {
    uint32_t pid = 0;
    uint32_t tid = 0;
    std::string_view name{};
    bool exec = false; ///< by exec; not reliable before kernel 3.16
};

/// FORK and EXIT.
struct PerfTask {
    uint32_t pid = 0;
    uint32_t parentPid = 0;
    uint32_t tid = 0;
    uint32_t parentTid = 0;
    uint64_t time = 0;
};

/// LOST and LOST_SAMPLES.
struct PerfLost {
    uint64_t count = 0;
    uint64_t id = 0;            ///< of the counter; of LOST only
    uint32_t event = kNoEvent;  ///< that the id, or else the trailer, belongs to
    bool samplesOnly = false;   ///< LOST_SAMPLES
    bool droppedByRule = false; ///< not lost: a BPF filter did not want them
};

/// SWITCH and SWITCH_CPU_WIDE.
struct PerfSwitch {
    bool out = false;
    bool preempted = false; ///< it was still runnable when it was switched out
    bool hasOther = false;  ///< the other task is known
    uint32_t otherPid = 0;  ///< the next task when switched out, the previous one when switched in
    uint32_t otherTid = 0;
};

struct PerfThrottle {
    bool begins = false;
    uint64_t time = 0;
    uint64_t id = 0;
    uint64_t streamId = 0;
};

struct PerfKernelSymbol {
    uint64_t start = 0;
    uint32_t length = 0;
    uint16_t type = 0; ///< 1: BPF, 2: out of line
    bool unregistered = false;
    std::string_view name{};
};

struct PerfTextPoke {
    uint64_t start = 0;
    std::string_view oldBytes{};
    std::string_view newBytes{};
};

struct PerfCgroup {
    uint64_t id = 0;
    std::string_view path{};
};

struct PerfNamespaces {
    uint32_t pid = 0;
    uint32_t tid = 0;
    U64Span deviceAndInode{}; ///< pairs: net, uts, ipc, pid, user, mnt, cgroup
};

/// The user part of the call chain of an earlier sample of the same thread.
struct PerfDeferredCallchain {
    uint64_t cookie = 0;
    U64Span addresses{};
};

/// Takes what the reader delivers; what is not overridden is dropped. MT: one call after the other; in the
/// order of time they come from several threads.
class PerfDataSink {
public:
    virtual ~PerfDataSink() = default;

    /// An event, before any sample of it. In a stream its name and format may come later: then it is
    /// delivered again with the same index, and what was told before is replaced.
    virtual void event(const PerfEvent&) { }
    /// About the machine and the recording; delivered again, complete, when a stream tells more.
    virtual void hostFacts(const PerfHostFacts&) { }
    virtual void buildId(const PerfBuildId&) { }
    virtual void mapping(const PerfRecord&, const PerfMapping&) { }
    virtual void comm(const PerfRecord&, const PerfComm&) { }
    virtual void fork(const PerfRecord&, const PerfTask&) { }
    virtual void exit(const PerfRecord&, const PerfTask&) { }
    virtual void lost(const PerfRecord&, const PerfLost&) { }
    virtual void contextSwitch(const PerfRecord&, const PerfSwitch&) { }
    virtual void throttle(const PerfRecord&, const PerfThrottle&) { }
    virtual void kernelSymbol(const PerfRecord&, const PerfKernelSymbol&) { }
    virtual void textPoke(const PerfRecord&, const PerfTextPoke&) { }
    virtual void cgroup(const PerfRecord&, const PerfCgroup&) { }
    virtual void namespaces(const PerfRecord&, const PerfNamespaces&) { }
    virtual void deferredCallchain(const PerfRecord&, const PerfDeferredCallchain&) { }
    /// A task that the recorder was told to watch (THREAD_MAP).
    virtual void watchedTask(const PerfRecord&, uint64_t /*pid*/, std::string_view /*comm*/) { }
    virtual void sample(const PerfRecord&, const PerfSample&) { }
    /// All that comes later is newer than the newest record before the previous such mark of this part.
    virtual void finishedRound(const PerfRecord&) { }
    /// At the end of the input, once a kind of damage, with its first place and a count.
    virtual void diagnostic(Diagnostic) { }
};

} // namespace whichlock
