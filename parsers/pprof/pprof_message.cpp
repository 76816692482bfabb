// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/pprof/pprof_message.h"

#include "parsers/pprof/wire_reader.h"

#include <fmt/format.h>

namespace whichlock::pprof {
namespace {

// Numbers of the fields in profile.proto.
namespace profile {
constexpr uint32_t kSampleType = 1;
constexpr uint32_t kSample = 2;
constexpr uint32_t kLocation = 4;
constexpr uint32_t kFunction = 5;
constexpr uint32_t kString = 6;
} // namespace profile
namespace value_type {
constexpr uint32_t kType = 1;
constexpr uint32_t kUnit = 2;
} // namespace value_type
namespace sample {
constexpr uint32_t kLocations = 1;
constexpr uint32_t kValues = 2;
} // namespace sample
namespace location {
constexpr uint32_t kId = 1;
constexpr uint32_t kAddress = 3;
constexpr uint32_t kLine = 4;
} // namespace location
namespace line {
constexpr uint32_t kFunction = 1;
constexpr uint32_t kNumber = 2;
} // namespace line
namespace function {
constexpr uint32_t kId = 1;
constexpr uint32_t kName = 2;
constexpr uint32_t kFile = 4;
} // namespace function

/// The two numbers of small messages.
std::pair<uint64_t, uint64_t> pairOf(std::string_view bytes, uint32_t first, uint32_t second)
{
    std::pair<uint64_t, uint64_t> found{};
    WireReader reader(bytes);
    for (WireField field; reader.next(field);) {
        if (field.number == first)
            found.first = field.value;
        if (field.number == second)
            found.second = field.value;
    }
    return found;
}

/// Strings stand behind what names them: numbers are turned into texts at the end.
struct Unresolved {
    std::vector<std::pair<uint64_t, uint64_t>> sampleTypes{};
    struct Named {
        uint64_t id = 0;
        uint64_t name = 0;
        uint64_t file = 0;
    };
    std::vector<Named> functions{};
    std::vector<std::string_view> strings{};

    std::string_view text(uint64_t index) const
    {
        return index < strings.size() ? strings[index] : std::string_view();
    }
};

Unresolved::Named functionOf(std::string_view bytes)
{
    Unresolved::Named named;
    WireReader reader(bytes);
    for (WireField field; reader.next(field);) {
        if (field.number == function::kId)
            named.id = field.value;
        else if (field.number == function::kName)
            named.name = field.value;
        else if (field.number == function::kFile)
            named.file = field.value;
    }
    return named;
}

void addLocation(std::string_view bytes, Message& message)
{
    uint64_t id = 0;
    uint64_t address = 0;
    Location found;
    WireReader reader(bytes);
    for (WireField field; reader.next(field);) {
        if (field.number == location::kId) {
            id = field.value;
        } else if (field.number == location::kAddress) {
            address = field.value;
        } else if (field.number == location::kLine && found.lines.size() < kMostInlined) {
            const auto [function, number] = pairOf(field.bytes, line::kFunction, line::kNumber);
            found.lines.emplace_back(
                function, number <= UINT32_MAX ? static_cast<uint32_t>(number) : uint32_t{0});
        }
    }
    if (found.lines.empty())
        found.text = fmt::format("{:#x}", address);
    message.locations.try_emplace(id, std::move(found));
}

/// Numbers stand packed in one field, or each in a field of its own.
void addNumbers(const WireField& field, std::vector<uint64_t>& numbers, bool& damaged)
{
    if (field.type != WireType::Bytes) {
        numbers.push_back(field.value);
        return;
    }
    WireReader packed(field.bytes);
    for (uint64_t value = 0; packed.nextPacked(value);)
        numbers.push_back(value);
    damaged = damaged || packed.damaged();
}

} // namespace

bool looksLikeMessage(std::string_view bytes)
{
    WireReader reader(bytes);
    WireField field;
    if (!reader.next(field) || field.number != profile::kSampleType || field.type != WireType::Bytes)
        return false;
    WireReader type(field.bytes);
    bool named = false;
    for (WireField part; type.next(part);) {
        if (part.type != WireType::Varint
            || (part.number != value_type::kType && part.number != value_type::kUnit))
            return false;
        named = named || part.number == value_type::kType;
    }
    return named && !type.damaged();
}

Message parseMessage(std::string_view bytes)
{
    Message message;
    Unresolved later;
    WireReader reader(bytes);
    for (WireField field; reader.next(field);) {
        if (field.type != WireType::Bytes)
            continue;
        switch (field.number) {
        case profile::kSampleType:
            later.sampleTypes.push_back(pairOf(field.bytes, value_type::kType, value_type::kUnit));
            break;
        case profile::kSample:
            message.samples.push_back(field.bytes);
            break;
        case profile::kLocation:
            addLocation(field.bytes, message);
            break;
        case profile::kFunction:
            later.functions.push_back(functionOf(field.bytes));
            break;
        case profile::kString:
            later.strings.push_back(field.bytes);
            break;
        default:
            break;
        }
    }
    message.damaged = reader.damaged();
    for (const auto& [type, unit] : later.sampleTypes)
        message.sampleTypes.push_back({later.text(type), later.text(unit)});
    for (const Unresolved::Named& named : later.functions)
        message.functions.try_emplace(named.id, Function{later.text(named.name), later.text(named.file)});
    return message;
}

bool parseSample(std::string_view bytes, Sample& found)
{
    found.locations.clear();
    found.values.clear();
    bool damaged = false;
    WireReader reader(bytes);
    for (WireField field; reader.next(field);) {
        if (field.number == sample::kLocations)
            addNumbers(field, found.locations, damaged);
        else if (field.number == sample::kValues)
            addNumbers(field, found.values, damaged);
    }
    return !damaged && !reader.damaged();
}

} // namespace whichlock::pprof
