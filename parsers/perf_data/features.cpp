// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/perf_data/features.h"

namespace whichlock {
namespace {

constexpr size_t kRecordHeaderBytes = 8;
constexpr size_t kPaddedBuildIdBytes = 24;

/// A text behind its length, which includes NULs and padding.
std::string_view sizedText(ByteReader& reader)
{
    return beforeNul(reader.bytes(reader.u32()));
}

/// A number of items, each read by `read`. Ends at damage, however large the number claims to be.
template <class Read> void readList(ByteReader& reader, const Read& read)
{
    const uint32_t count = reader.u32();
    for (uint32_t i = 0; i < count && reader.ok(); ++i)
        read();
}

void readTexts(ByteReader& reader, std::vector<std::string>& texts)
{
    texts.clear();
    readList(reader, [&] {
        const std::string_view text = sizedText(reader);
        if (reader.ok())
            texts.emplace_back(text);
    });
}

void readCpuTopology(ByteReader& reader, PerfHostFacts& facts)
{
    readTexts(reader, facts.coreSiblings);
    readTexts(reader, facts.threadSiblings);
    facts.cpuPlaces.clear();
    // The first versions end here.
    for (uint32_t i = 0; i < facts.cpusAvailable && reader.remaining() >= 2 * sizeof(uint32_t); ++i) {
        const uint32_t core = reader.u32();
        facts.cpuPlaces.push_back({core, reader.u32()});
    }
}

void readNumaNodes(ByteReader& reader, std::vector<PerfNumaNode>& nodes)
{
    nodes.clear();
    readList(reader, [&] {
        PerfNumaNode node;
        node.node = reader.u32();
        node.totalKb = reader.u64();
        node.freeKb = reader.u64();
        node.cpus = sizedText(reader);
        if (reader.ok())
            nodes.push_back(std::move(node));
    });
}

void readPmus(ByteReader& reader, std::vector<PerfPmu>& pmus)
{
    pmus.clear();
    readList(reader, [&] {
        const uint32_t type = reader.u32();
        const std::string_view name = sizedText(reader);
        if (reader.ok())
            pmus.push_back({type, std::string(name)});
    });
}

void readGroups(ByteReader& reader, std::vector<PerfEventGroup>& groups)
{
    groups.clear();
    readList(reader, [&] {
        PerfEventGroup group;
        group.name = sizedText(reader);
        group.leader = reader.u32();
        group.members = reader.u32();
        if (reader.ok())
            groups.push_back(std::move(group));
    });
}

void readClockData(ByteReader& reader, PerfHostFacts& facts)
{
    reader.skip(4); // version
    PerfClockData clock;
    clock.clockId = reader.u32();
    clock.wallNs = reader.u64();
    clock.clockNs = reader.u64();
    if (reader.ok())
        facts.clock = clock;
}

/// Numbers as they stand; false when the feature is none of these.
bool readNumbers(PerfFeature feature, ByteReader& reader, PerfHostFacts& facts)
{
    if (feature == PerfFeature::CpuCount) {
        facts.cpusAvailable = reader.u32();
        facts.cpusOnline = reader.u32();
    } else if (feature == PerfFeature::TotalMemory) {
        facts.totalMemoryKb = reader.u64();
    } else if (feature == PerfFeature::BranchStack) {
        facts.hasBranchStacks = true;
    } else if (feature == PerfFeature::SampleTime) {
        const uint64_t first = reader.u64();
        const uint64_t last = reader.u64();
        if (reader.ok())
            facts.sampleTime = {first, last};
    } else if (feature == PerfFeature::ClockId) {
        facts.clockResolutionNs = reader.u64();
    } else if (feature == PerfFeature::DirFormat) {
        facts.directoryVersion = reader.u64();
    } else if (feature == PerfFeature::Compressed) {
        reader.skip(3 * 4); // version, type, level
        facts.compressionRatio = reader.u32();
    } else {
        return false;
    }
    return true;
}

/// The fact that is one text; null when the feature is another.
std::string* textOf(PerfFeature feature, PerfHostFacts& facts)
{
    if (feature == PerfFeature::HostName)
        return &facts.hostName;
    if (feature == PerfFeature::OsRelease)
        return &facts.osRelease;
    if (feature == PerfFeature::Version)
        return &facts.perfVersion;
    if (feature == PerfFeature::Arch)
        return &facts.arch;
    if (feature == PerfFeature::CpuDescription)
        return &facts.cpuDescription;
    if (feature == PerfFeature::CpuId)
        return &facts.cpuId;
    return nullptr;
}

} // namespace

bool readFeature(unsigned number, std::string_view bytes, ByteOrder order, PerfHostFacts& facts)
{
    if (number > static_cast<unsigned>(PerfFeature::ClockData))
        return true;
    const auto feature = static_cast<PerfFeature>(number);
    ByteReader reader(bytes, order);
    if (std::string* const text = textOf(feature, facts))
        *text = sizedText(reader);
    else if (feature == PerfFeature::CommandLine)
        readTexts(reader, facts.commandLine);
    else if (feature == PerfFeature::CpuTopology)
        readCpuTopology(reader, facts);
    else if (feature == PerfFeature::NumaTopology)
        readNumaNodes(reader, facts.numaNodes);
    else if (feature == PerfFeature::PmuMappings)
        readPmus(reader, facts.pmus);
    else if (feature == PerfFeature::GroupDesc)
        readGroups(reader, facts.groups);
    else if (feature == PerfFeature::ClockData)
        readClockData(reader, facts);
    else
        readNumbers(feature, reader, facts);
    return reader.ok();
}

bool readEventDescriptions(
    std::string_view bytes, ByteOrder order, std::vector<EventDescription>& descriptions)
{
    ByteReader reader(bytes, order);
    const uint32_t count = reader.u32();
    const uint32_t attrBytes = reader.u32();
    for (uint32_t i = 0; i < count && reader.ok(); ++i) {
        EventDescription description;
        description.attr = parseAttr(reader.bytes(attrBytes), order);
        const uint64_t idBytes = uint64_t{reader.u32()} * sizeof(uint64_t);
        description.name = sizedText(reader);
        description.ids = U64Span(reader.bytes(idBytes), order);
        if (reader.ok())
            descriptions.push_back(description);
    }
    return reader.ok();
}

std::optional<PerfBuildId> parseBuildId(uint16_t misc, std::string_view payload, ByteOrder order)
{
    ByteReader reader(payload, order);
    PerfBuildId buildId;
    buildId.misc = misc;
    buildId.pid = static_cast<int32_t>(reader.u32());
    const std::string_view padded = reader.bytes(kPaddedBuildIdBytes);
    if (!reader.ok())
        return std::nullopt;
    size_t size = kBuildIdBytes;
    if ((misc & perf_misc::kBuildIdSize) != 0)
        size = std::min<size_t>(static_cast<unsigned char>(padded[kBuildIdBytes]), kBuildIdBytes);
    buildId.id = padded.substr(0, size);
    buildId.fileName = reader.untilNul();
    return buildId;
}

bool readBuildIds(
    std::string_view bytes, ByteOrder order, const std::function<void(const PerfBuildId&)>& deliver)
{
    ByteReader reader(bytes, order);
    while (reader.remaining() >= kRecordHeaderBytes) {
        reader.skip(4); // the type is 0 or 67
        const uint16_t misc = reader.u16();
        const uint16_t size = reader.u16();
        if (size < kRecordHeaderBytes)
            return false;
        const std::string_view payload = reader.bytes(size - kRecordHeaderBytes);
        if (!reader.ok())
            return false;
        std::optional<PerfBuildId> buildId = parseBuildId(misc, payload, order);
        if (!buildId)
            return false;
        // The first versions wrote no pid, so that name and id are read four bytes late.
        if (buildId->fileName.starts_with("nel.kallsyms]")
            || buildId->fileName.starts_with("rnel.kallsyms]")) {
            buildId->pid = -1;
            buildId->id = payload.substr(0, kBuildIdBytes);
            buildId->fileName = beforeNul(payload.substr(kPaddedBuildIdBytes));
        }
        deliver(*buildId);
    }
    return true;
}

} // namespace whichlock
