// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/perf_data/sample.h"

#include <algorithm>
#include <bit>
#include <type_traits>

namespace whichlock {
namespace {

constexpr uint64_t kBranchHwIndex = 1U << 17U;
constexpr uint64_t kBranchCounters = 1U << 19U;
constexpr size_t kWord = sizeof(uint64_t);
constexpr size_t kBranchBytes = 3 * kWord;
constexpr uint64_t kTrailerBits = sample_bit::kTid | sample_bit::kTime | sample_bit::kId
    | sample_bit::kStreamId | sample_bit::kCpu | sample_bit::kIdentifier;

/// Reads the fields one after the other. Each returns whether it fits.
class SampleDecoder {
public:
    SampleDecoder(const PerfAttr& attr, std::string_view payload, ByteOrder order, PerfSample& sample)
        : attr_(attr)
        , reader_(payload, order)
        , sample_(sample)
    {
    }

    const char* decode()
    {
        fixedFields();
        if (!reader_.ok())
            return "one of the fixed fields";
        if (has(sample_bit::kRead) && !decodeReadValues(attr_.readFormat, reader_, sample_.read))
            return "READ";
        if (has(sample_bit::kCallchain) && !words(reader_.u64(), sample_.callchain))
            return "CALLCHAIN";
        if (has(sample_bit::kRaw) && !raw())
            return "RAW";
        if (has(sample_bit::kBranchStack) && !branches())
            return "BRANCH_STACK";
        if (has(sample_bit::kRegsUser) && !registers(attr_.sampleRegsUser, sample_.userRegisters))
            return "REGS_USER";
        if (has(sample_bit::kStackUser) && !userStack())
            return "STACK_USER";
        return laterFields();
    }

private:
    bool has(uint64_t bit) const { return (attr_.sampleType & bit) != 0; }

    /// They have the same places in all samples of an event: one look at the length is enough.
    void fixedFields()
    {
        constexpr uint64_t kFixed = sample_bit::kIdentifier | sample_bit::kIp | sample_bit::kTid
            | sample_bit::kTime | sample_bit::kAddr | sample_bit::kId | sample_bit::kStreamId
            | sample_bit::kCpu | sample_bit::kPeriod;
        const char* at =
            reader_.bytes(kWord * static_cast<size_t>(std::popcount(attr_.sampleType & kFixed))).data();
        if (!reader_.ok())
            return;
        const auto take = [&at, order = reader_.order()](auto& field) {
            field = loadInteger<std::remove_reference_t<decltype(field)>>(at, order);
            at += sizeof field;
        };
        if (has(sample_bit::kIdentifier)) {
            take(sample_.identifier);
            sample_.id = sample_.identifier;
        }
        if (has(sample_bit::kIp))
            take(sample_.ip);
        if (has(sample_bit::kTid)) {
            take(sample_.pid);
            take(sample_.tid);
        }
        if (has(sample_bit::kTime))
            take(sample_.time);
        if (has(sample_bit::kAddr))
            take(sample_.addr);
        if (has(sample_bit::kId))
            take(sample_.id);
        if (has(sample_bit::kStreamId))
            take(sample_.streamId);
        if (has(sample_bit::kCpu)) {
            take(sample_.cpu);
            at += sizeof(uint32_t);
        }
        if (has(sample_bit::kPeriod))
            take(sample_.period);
        else if (!attr_.has(PerfAttrFlag::Frequency))
            sample_.period = attr_.samplePeriod;
    }

    const char* laterFields()
    {
        constexpr uint64_t kLater = sample_bit::kWeight | sample_bit::kWeightStruct | sample_bit::kDataSrc
            | sample_bit::kTransaction | sample_bit::kRegsIntr | sample_bit::kPhysAddr | sample_bit::kCgroup
            | sample_bit::kDataPageSize | sample_bit::kCodePageSize | sample_bit::kAux;
        if (!has(kLater) && reader_.ok()) {
            sample_.bytesLeft = reader_.remaining();
            return nullptr;
        }
        if (has(sample_bit::kWeight | sample_bit::kWeightStruct))
            sample_.weight = reader_.u64();
        if (has(sample_bit::kDataSrc))
            sample_.dataSource = reader_.u64();
        if (has(sample_bit::kTransaction))
            sample_.transaction = reader_.u64();
        if (has(sample_bit::kRegsIntr) && !registers(attr_.sampleRegsIntr, sample_.interruptRegisters))
            return "REGS_INTR";
        if (has(sample_bit::kPhysAddr))
            sample_.physicalAddress = reader_.u64();
        if (has(sample_bit::kCgroup))
            sample_.cgroup = reader_.u64();
        if (has(sample_bit::kDataPageSize))
            sample_.dataPageSize = reader_.u64();
        if (has(sample_bit::kCodePageSize))
            sample_.codePageSize = reader_.u64();
        if (has(sample_bit::kAux))
            sample_.aux = reader_.bytes(reader_.u64());
        if (!reader_.ok())
            return "one of the fields behind the stack";
        sample_.bytesLeft = reader_.remaining();
        return nullptr;
    }

    bool words(uint64_t count, U64Span& span)
    {
        if (!reader_.ok() || count > reader_.remaining() / kWord)
            return false;
        span = U64Span(reader_.bytes(count * kWord), reader_.order());
        return true;
    }

    bool raw()
    {
        sample_.raw = reader_.bytes(reader_.u32());
        sample_.rawOrder = reader_.order();
        return reader_.ok();
    }

    bool branches()
    {
        const uint64_t count = reader_.u64();
        if ((attr_.branchSampleType & kBranchHwIndex) != 0)
            sample_.branchHwIndex = reader_.u64();
        if (!reader_.ok() || count > reader_.remaining() / kBranchBytes)
            return false;
        sample_.branches = BranchSpan(reader_.bytes(count * kBranchBytes), reader_.order());
        return (attr_.branchSampleType & kBranchCounters) == 0 || words(count, sample_.branchCounters);
    }

    bool registers(uint64_t mask, PerfRegisters& registers)
    {
        registers = {.abi = reader_.u64()};
        if (registers.abi == 0)
            return reader_.ok();
        registers.mask = mask;
        return words(static_cast<uint64_t>(std::popcount(mask)), registers.values);
    }

    bool userStack()
    {
        const uint64_t size = reader_.u64();
        sample_.userStack = {};
        sample_.userStackUsed = 0;
        if (size == 0)
            return reader_.ok();
        sample_.userStack = reader_.bytes(size);
        // Never more than was dumped, whatever the file says.
        sample_.userStackUsed = std::min<uint64_t>(reader_.u64(), sample_.userStack.size());
        return reader_.ok();
    }

    const PerfAttr& attr_;
    ByteReader reader_;
    PerfSample& sample_;
};

/// Takes `width` bits off the high end of `flags`, where a big endian compiler puts the first field.
uint64_t takeHigh(uint64_t& flags, unsigned width)
{
    const uint64_t field = flags >> (64U - width);
    flags <<= width;
    return field;
}

/// mispred 1, predicted 1, in_tx 1, abort 1, cycles 16, type 4, spec 2, new_type 4, priv 3.
uint64_t branchFlagsOfBigEndian(uint64_t flags)
{
    uint64_t turned = 0;
    unsigned at = 0;
    for (const unsigned width : {1U, 1U, 1U, 1U, 16U, 4U, 2U, 4U, 3U}) {
        turned |= takeHigh(flags, width) << at;
        at += width;
    }
    return turned;
}

} // namespace

U64Span U64Span::subspan(size_t first, size_t count) const
{
    U64Span part = *this;
    first = std::min(first, count_);
    part.data_ = data_ + first * sizeof(uint64_t);
    part.count_ = std::min(count, count_ - first);
    return part;
}

PerfBranch BranchSpan::operator[](size_t index) const
{
    const uint64_t flags = words_[index * 3 + 2];
    return {words_[index * 3], words_[index * 3 + 1], bigEndian_ ? branchFlagsOfBigEndian(flags) : flags};
}

const char* decodeSample(const PerfAttr& attr, std::string_view payload, ByteOrder order, PerfSample& sample)
{
    sample.present = attr.sampleType & sample_bit::kKnown;
    return SampleDecoder(attr, payload, order, sample).decode();
}

PerfReadValue PerfReadValues::operator[](size_t index) const
{
    if (!group)
        return single;
    const size_t at = index * wordsEach();
    return {words[at], hasIds ? words[at + 1] : 0, hasLost ? words[at + wordsEach() - 1] : 0};
}

bool decodeReadValues(uint64_t format, ByteReader& reader, PerfReadValues& values)
{
    values.group = (format & read_bit::kGroup) != 0;
    values.hasIds = (format & read_bit::kId) != 0;
    values.hasLost = (format & read_bit::kLost) != 0;
    const uint64_t first = reader.u64(); // the value, or how many there are
    if ((format & read_bit::kTimeEnabled) != 0)
        values.timeEnabled = reader.u64();
    if ((format & read_bit::kTimeRunning) != 0)
        values.timeRunning = reader.u64();
    if (!values.group) {
        values.single.value = first;
        values.single.id = values.hasIds ? reader.u64() : 0;
        values.single.lost = values.hasLost ? reader.u64() : 0;
        return reader.ok();
    }
    const size_t each = values.wordsEach() * kWord;
    if (!reader.ok() || first > reader.remaining() / each)
        return false;
    values.words = U64Span(reader.bytes(first * each), reader.order());
    return true;
}

size_t sampleIdBytes(const PerfAttr& attr)
{
    if (!attr.has(PerfAttrFlag::SampleIdAll))
        return 0;
    return kWord * static_cast<size_t>(std::popcount(attr.sampleType & kTrailerBits));
}

PerfSampleId decodeSampleId(const PerfAttr& attr, std::string_view trailer, ByteOrder order)
{
    PerfSampleId id;
    id.present = attr.sampleType & kTrailerBits;
    ByteReader reader(trailer, order);
    if (id.has(sample_bit::kTid)) {
        id.pid = reader.u32();
        id.tid = reader.u32();
    }
    if (id.has(sample_bit::kTime))
        id.time = reader.u64();
    if (id.has(sample_bit::kId))
        id.id = reader.u64();
    if (id.has(sample_bit::kStreamId))
        id.streamId = reader.u64();
    if (id.has(sample_bit::kCpu)) {
        id.cpu = reader.u32();
        reader.skip(4);
    }
    if (id.has(sample_bit::kIdentifier))
        id.id = reader.u64();
    return id;
}

} // namespace whichlock
