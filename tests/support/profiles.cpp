// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/profiles.h"

#include "analyzer/model/profile_builder.h"

#include <algorithm>
#include <stdexcept>

namespace whichlock::test {
namespace {

constexpr std::string_view kInput = "input.txt";

struct CountedText {
    std::string_view text;
    uint64_t count = 0;
};

CountedText countedText(std::string_view line)
{
    const size_t blank = line.rfind(' ');
    const auto count = blank == std::string_view::npos ? std::nullopt : parseUnsigned(line.substr(blank + 1));
    if (!count)
        throw std::invalid_argument("no count in the line of a test profile");
    return {line.substr(0, blank), *count};
}

std::vector<std::string_view> partsOf(std::string_view text)
{
    std::vector<std::string_view> parts;
    for (;;) {
        const size_t end = text.find(';');
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos)
            return parts;
        text.remove_prefix(end + 1);
    }
}

TextFrame frameOf(std::string_view text)
{
    TextFrame frame;
    const size_t marks = std::min(text.find('{'), text.size());
    const auto has = [&](char mark) { return text.find(mark, marks) != std::string_view::npos; };
    frame.inlined = has('i');
    frame.recovered = has('r');
    frame.calleeMissing = has('m');
    frame.waitLoop = has('w');
    text = text.substr(0, marks);
    const size_t plus = text.find("+0x");
    frame.symbol = text.substr(0, plus);
    if (plus != std::string_view::npos)
        frame.symbolOffset = std::stoull(std::string(text.substr(plus + 3)), nullptr, 16);
    return frame;
}

SectionHandle begin(ProfileBuilder& builder, const ProfileContext& context)
{
    const Position place{.chain = std::string(kInput), .line = 1, .offset = 0};
    builder.beginInput(std::string(kInput));
    for (const auto& [kind, value] : context.inputFacts)
        builder.inputFact(kind, value, place);
    SectionRecord record;
    record.format = context.format;
    record.event = context.event;
    record.position = place;
    const SectionHandle section = builder.section(record);
    for (const auto& [kind, value] : context.sectionFacts)
        builder.fact(section, kind, value);
    if (!context.tableLabels.empty()) {
        SectionRecord measurements;
        measurements.kind = SectionKind::Measurements;
        measurements.position = {.chain = std::string(kInput), .line = 100, .offset = 1000};
        TableRecord table;
        table.columns = {"time"};
        for (const std::string& label : context.tableLabels)
            table.rows.push_back({label, {FixedPoint{}}, 100});
        builder.table(builder.section(measurements), table);
    }
    return section;
}

} // namespace

Profile foldedProfile(std::initializer_list<std::string_view> lines, const ProfileContext& context)
{
    ProfileBuilder builder;
    const SectionHandle section = begin(builder, context);
    for (const std::string_view line : lines) {
        const auto [text, count] = countedText(line);
        const std::vector<std::string_view> parts = partsOf(text);
        std::vector<TextFrame> frames;
        for (size_t i = parts.size(); i-- > 1;)
            frames.push_back(frameOf(parts[i]));
        for (uint64_t i = 0; i < count; ++i)
            builder.sample(section, {.comm = parts[0], .timeNs = std::nullopt, .frames = frames});
    }
    return builder.freeze();
}

Profile flatProfile(std::initializer_list<std::string_view> rows, const ProfileContext& context)
{
    ProfileBuilder builder;
    const SectionHandle section = begin(builder, context);
    for (const std::string_view row : rows) {
        const auto [symbol, count] = countedText(row);
        builder.row(section, {.symbol = symbol, .value = count});
    }
    return builder.freeze();
}

} // namespace whichlock::test
