// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/perf_data/file_metadata.h"

#include "parsers/perf_data/perf_data_state.h"

#include <algorithm>

#include <fmt/core.h>

namespace whichlock {
namespace {

constexpr size_t kSectionBytes = 16;
constexpr size_t kEventNameBytes = 64;

/// MT: one thread.
class MetadataReader {
public:
    MetadataReader(PerfDataState& state, const PerfFileHeader& header, std::string_view bytes)
        : state_(state)
        , header_(header)
        , bytes_(bytes)
        , idBudget_(bytes.size() / sizeof(uint64_t))
    {
    }

    void attrs()
    {
        const uint64_t stride = header_.attrStride;
        if (stride < PerfAttr::kSmallest + kSectionBytes) {
            note(DiagnosticCode::FeatureDamaged, 0, 0, "the size of an event description, {} bytes, is wrong",
                stride);
            return;
        }
        const std::string_view table = sectionBytes(bytes_, header_.attrs);
        if (!sectionFits(bytes_.size(), header_.attrs))
            note(DiagnosticCode::FileCut, 0, header_.attrs.offset,
                "the descriptions of the events at offset {} are cut", header_.attrs.offset);
        for (uint64_t at = 0; at + stride <= table.size(); at += stride)
            attr(table.substr(static_cast<size_t>(at), static_cast<size_t>(stride)),
                header_.attrs.offset + at);
    }

    /// The names of events in the first versions.
    void eventTypes()
    {
        ByteReader reader(sectionBytes(bytes_, header_.eventTypes), header_.order);
        while (reader.remaining() >= sizeof(uint64_t) + kEventNameBytes) {
            const uint64_t config = reader.u64();
            state_.events.nameByConfig(config, beforeNul(reader.bytes(kEventNameBytes)));
        }
    }

    void features()
    {
        const FileSection& data = header_.data;
        if (wasKilled(header_, bytes_)) {
            note(DiagnosticCode::RecorderKilled, 0, 0,
                "the recorder did not finish its file: names of events, formats of tracepoints and build ids "
                "are missing; all records up to the end of the file are read");
            return;
        }
        if (!sectionFits(bytes_.size(), data)) {
            note(DiagnosticCode::FileCut, 1, bytes_.size(),
                "the file is cut after {} bytes: the data section of the header ends behind the end of the "
                "file",
                bytes_.size());
            return;
        }
        const uint64_t table = data.offset + data.size;
        ByteReader reader(
            sectionBytes(bytes_, {table, kSectionBytes * header_.features.size()}), header_.order);
        for (const unsigned number : header_.features) {
            const uint64_t offset = reader.u64();
            const FileSection section = {offset, reader.u64()};
            if (!reader.ok()) {
                note(DiagnosticCode::FileCut, 2, table,
                    "the list of feature sections at offset {} is cut; the features from number {} on are "
                    "lost",
                    table, number);
                return;
            }
            feature(number, section);
        }
    }

private:
    void attr(std::string_view bytes, uint64_t offset)
    {
        const std::string_view own = bytes.substr(0, bytes.size() - kSectionBytes);
        const std::optional<PerfAttr> attr = parseAttr(own, header_.order);
        if (!attr) {
            note(DiagnosticCode::FeatureDamaged, 1, offset,
                "the event description at offset {} cannot be read", offset);
            return;
        }
        const uint32_t event = state_.events.add(*attr);
        ByteReader section(bytes.substr(own.size()), header_.order);
        const uint64_t idsOffset = section.u64();
        const FileSection place = {idsOffset, section.u64()};
        const U64Span ids(sectionBytes(bytes_, place), header_.order);
        // Sections that overlap would make more work than the file has bytes.
        if (!sectionFits(bytes_.size(), place) || ids.size() > idBudget_) {
            note(DiagnosticCode::FeatureDamaged, 2, offset,
                "the ids of the event described at offset {} do not lie in the file", offset);
            return;
        }
        idBudget_ -= ids.size();
        for (size_t i = 0; i < ids.size(); ++i)
            state_.events.addId(event, ids[i]);
    }

    void feature(unsigned number, FileSection section)
    {
        if (!sectionFits(bytes_.size(), section)) {
            note(DiagnosticCode::FeatureDamaged, 1000 + number, section.offset,
                "feature section {} at offset {} runs past the end of the file", number, section.offset);
        }
        applyFeature(state_, number, sectionBytes(bytes_, section), section.offset);
    }

    template <class... Values>
    void note(DiagnosticCode code, uint32_t kind, uint64_t offset, fmt::format_string<const Values&...> text,
        const Values&... values)
    {
        // Kinds above all record types, so that they share no diagnostic with records.
        state_.damage.note(code, kFirstKind + kind, offset, [&] { return fmt::format(text, values...); });
    }

    static constexpr uint32_t kFirstKind = 1U << 20U;

    PerfDataState& state_;
    const PerfFileHeader& header_;
    std::string_view bytes_;
    uint64_t idBudget_;
};

} // namespace

void readMetadata(PerfDataState& state, const PerfFileHeader& header, std::string_view bytes)
{
    MetadataReader reader(state, header, bytes);
    reader.attrs();
    reader.eventTypes();
    reader.features();
    state.changes = true;
}

} // namespace whichlock
