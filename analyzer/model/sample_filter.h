// SPDX-License-Identifier: GPL-3.0-or-later
// Which samples a question is about: by time, thread, process and processor. Applied where samples enter, so
// that what is left out costs no memory; it is counted all the same.
#pragma once

#include "parsers/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock {

/// A range of time; `from` belongs to it, `to` does not, so that ranges that meet share no sample.
struct TimeRange {
    enum class Base : uint8_t {
        FirstSample, ///< ns after the first sample of the input
        Clock,       ///< ns of the clock that the recording used
        Percent,     ///< parts per billion of the time from the first sample to the last
    };
    Base base = Base::FirstSample;
    std::optional<uint64_t> from{};
    std::optional<uint64_t> to{};

    bool operator==(const TimeRange&) const = default;
};

struct CpuRange {
    int32_t first = 0;
    int32_t last = 0; ///< belongs to it

    bool operator==(const CpuRange&) const = default;
};

/// Parts that are not empty all have to be met; of the entries of one part, one has to be.
struct SampleFilter {
    std::optional<TimeRange> time{};
    std::vector<std::string> threads{};   ///< names as the kernel has them, or numbers
    std::vector<std::string> processes{}; ///< the same
    std::vector<CpuRange> cpus{};

    bool empty() const { return !time && threads.empty() && processes.empty() && cpus.empty(); }
    bool operator==(const SampleFilter&) const = default;
};

class RoutineTable;
struct EvidenceLog;

/// What to keep of the inputs, and what samples are told apart by beside event, stack, name and process. The
/// default keeps everything.
struct RecordingOptions {
    SampleFilter filter{};
    bool byThread = false; ///< costs memory, as does the next one
    bool byCpu = false;
    /// Told what begins where reading is not what takes the time: `naming 1200 addresses`. May be empty.
    std::function<void(const std::string&)> step{};
    /// Where what names of locks rest on is written down; null = nowhere, which saves time.
    EvidenceLog* evidence = nullptr;
    /// What symbols mean, with the rows of the user; null = the built-in table.
    const RoutineTable* routines = nullptr;
};

/// Reads `1.5-2.25`, `-2`, `3-`, `10%-20%` or `794.1,794.2`. The error is a sentence for the user.
tl::expected<TimeRange, std::string> parseTimeRange(std::string_view text);
/// Reads `0,2-5`.
tl::expected<std::vector<CpuRange>, std::string> parseCpus(std::string_view text);

// The forms that the two above read.
std::string toText(const TimeRange& range);
std::string toText(const std::vector<CpuRange>& cpus);

/// What a filter looks at. What the input does not tell is -1 or empty.
struct SampleOrigin {
    std::optional<uint64_t> timeNs{};
    int32_t pid = -1;
    int32_t tid = -1;
    int32_t cpu = -1;
    std::string_view comm{};        ///< name of the thread
    std::string_view processComm{}; ///< name of the process: that of its first thread
};

enum class Kept : uint8_t {
    Yes,
    No,
    Untold, ///< the sample lacks what the filter asks for
};

/// Applies a filter to the samples of one input, in the order of time. MT: one thread.
class SampleGate {
public:
    explicit SampleGate(SampleFilter filter);

    bool keepsAll() const { return filter_.empty(); }
    /// When the first and the last sample of the recording were taken; percentages need it.
    void setSpan(uint64_t firstNs, uint64_t lastNs);
    Kept judge(const SampleOrigin& sample);
    /// Whether a thread is meant, whatever it does, when and where.
    Kept judgeThread(const SampleOrigin& sample) const;
    Kept judgeCpu(int32_t cpu) const;
    /// The times that are kept, of an input whose first sample was taken then; the end does not belong to
    /// them. Nothing where the input does not tell.
    std::optional<std::pair<uint64_t, uint64_t>> timesKept(uint64_t firstNs);

private:
    void setBounds(uint64_t firstNs);
    Kept judgeTime(const SampleOrigin& sample);

    SampleFilter filter_;
    bool bounded_ = false; ///< the bounds below are set
    std::optional<uint64_t> fromNs_;
    std::optional<uint64_t> toNs_;
};

} // namespace whichlock
