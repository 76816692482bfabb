// SPDX-License-Identifier: GPL-3.0-or-later
// One sample of perf.data: its fields in host byte order, as views into the bytes of the record.
#pragma once

#include "parsers/perf_data/attr.h"

namespace whichlock {

/// 64-bit integers as they lie in the file; the element that is asked for is brought into host order.
class U64Span {
public:
    U64Span() = default;
    U64Span(std::string_view bytes, ByteOrder order)
        : data_(bytes.data())
        , count_(bytes.size() / sizeof(uint64_t))
        , order_(order)
    {
    }

    size_t size() const { return count_; }
    bool empty() const { return count_ == 0; }
    uint64_t operator[](size_t index) const
    {
        return loadInteger<uint64_t>(data_ + index * sizeof(uint64_t), order_);
    }
    /// The elements from `first` on, at most `count` of them.
    U64Span subspan(size_t first, size_t count = SIZE_MAX) const;
    /// As they lie in the file.
    std::string_view bytes() const { return {data_, count_ * sizeof(uint64_t)}; }

private:
    const char* data_ = nullptr;
    size_t count_ = 0;
    ByteOrder order_ = kHostOrder;
};

/// Entries of a call chain from here on are marks of a context, not addresses.
constexpr uint64_t kFirstContextMark = static_cast<uint64_t>(-4095);

namespace perf_context {
constexpr uint64_t kHypervisor = static_cast<uint64_t>(-32);
constexpr uint64_t kKernel = static_cast<uint64_t>(-128);
constexpr uint64_t kUser = static_cast<uint64_t>(-512);
constexpr uint64_t kUserDeferred = static_cast<uint64_t>(-640);
constexpr uint64_t kGuest = static_cast<uint64_t>(-2048);
constexpr uint64_t kGuestKernel = static_cast<uint64_t>(-2176);
constexpr uint64_t kGuestUser = static_cast<uint64_t>(-2560);
} // namespace perf_context

/// One taken branch. `flags` are numbered as in a little endian file: mispredicted 0, predicted 1, ...
struct PerfBranch {
    uint64_t from = 0;
    uint64_t to = 0;
    uint64_t flags = 0;
};

/// The branches of a sample, newest first.
class BranchSpan {
public:
    BranchSpan() = default;
    BranchSpan(std::string_view bytes, ByteOrder order)
        : words_(bytes, order)
        , bigEndian_(order == ByteOrder::Big)
    {
    }

    size_t size() const { return words_.size() / 3; }
    bool empty() const { return size() == 0; }
    PerfBranch operator[](size_t index) const;

private:
    U64Span words_;
    bool bigEndian_ = false;
};

/// The registers of a sample: the n-th value belongs to the n-th bit that is set in the mask.
struct PerfRegisters {
    uint64_t abi = 0; ///< 0: none were taken, 1: a 32-bit task, 2: a 64-bit task
    uint64_t mask = 0;
    U64Span values{};
};

/// The value of one counter.
struct PerfReadValue {
    uint64_t value = 0;
    uint64_t id = 0;   ///< 0 when ids were not recorded
    uint64_t lost = 0; ///< 0 when lost counts were not recorded
};

/// Counter values of a sample or a READ record: one, or one an event of the group.
struct PerfReadValues {
    uint64_t timeEnabled = 0;
    uint64_t timeRunning = 0;
    bool hasIds = false;
    bool hasLost = false;
    bool group = false;
    PerfReadValue single{}; ///< when it is no group
    U64Span words{};        ///< of a group

    size_t size() const { return group ? words.size() / wordsEach() : 1; }
    PerfReadValue operator[](size_t index) const;

private:
    friend bool decodeReadValues(uint64_t format, ByteReader& reader, PerfReadValues& values);
    size_t wordsEach() const { return 1U + (hasIds ? 1U : 0U) + (hasLost ? 1U : 0U); }
};

constexpr uint32_t kNoEvent = UINT32_MAX;

/// Views are valid while the sample is delivered, no longer.
struct PerfSample {
    uint32_t event = kNoEvent; ///< index of the event; kNoEvent when the file does not say
    uint64_t present = 0;      ///< sample_bit of the fields that were recorded
    uint64_t identifier = 0;
    uint64_t ip = 0;
    uint32_t pid = 0;
    uint32_t tid = 0;
    uint64_t time = 0;
    uint64_t addr = 0;
    uint64_t id = 0; ///< of the counter: the field ID, or IDENTIFIER where only that was recorded
    uint64_t streamId = 0;
    uint32_t cpu = 0;
    uint64_t period = 0; ///< the event's fixed period where none was recorded, 0 when that is not known
    PerfReadValues read{};
    U64Span callchain{}; ///< with context marks
    std::string_view raw{};
    ByteOrder rawOrder = kHostOrder;
    BranchSpan branches{};
    uint64_t branchHwIndex = 0;
    U64Span branchCounters{};
    PerfRegisters userRegisters{};
    std::string_view userStack{};
    uint64_t userStackUsed = 0; ///< bytes of `userStack` that the kernel could copy
    uint64_t weight = 0;        ///< with kWeightStruct: u32, u16, u16 from the low end
    uint64_t dataSource = 0;
    uint64_t transaction = 0;
    PerfRegisters interruptRegisters{};
    uint64_t physicalAddress = 0;
    uint64_t cgroup = 0;
    uint64_t dataPageSize = 0;
    uint64_t codePageSize = 0;
    std::string_view aux{};
    size_t bytesLeft = 0; ///< behind the last known field; 0 but for kernels that have more fields

    bool has(uint64_t bit) const { return (present & bit) != 0; }
};

/// Decodes the payload of a SAMPLE record in the layout of `attr`. Returns null, or the name of the field
/// that does not fit; fields before it are filled. `sample` is a new one, or holds one of the same layout
/// that was decoded to its end: all fields of the layout are set, the others are left alone.
const char* decodeSample(const PerfAttr& attr, std::string_view payload, ByteOrder order, PerfSample& sample);

/// Decodes counter values in the layout of `format`; false when they do not fit.
bool decodeReadValues(uint64_t format, ByteReader& reader, PerfReadValues& values);

/// What the kernel appends to records that are no samples.
struct PerfSampleId {
    uint64_t present = 0; ///< sample_bit
    uint32_t event = kNoEvent;
    uint32_t pid = 0;
    uint32_t tid = 0;
    uint64_t time = 0; ///< 0 in records that perf made up for what was there before it started
    uint64_t id = 0;
    uint64_t streamId = 0;
    uint32_t cpu = 0;

    bool has(uint64_t bit) const { return (present & bit) != 0; }
};

/// Bytes of the trailer in the layout of `attr`; 0 without sample_id_all.
size_t sampleIdBytes(const PerfAttr& attr);
/// Decodes a trailer of exactly sampleIdBytes().
PerfSampleId decodeSampleId(const PerfAttr& attr, std::string_view trailer, ByteOrder order);

} // namespace whichlock
