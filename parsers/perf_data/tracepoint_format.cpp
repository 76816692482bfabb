// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/perf_data/tracepoint_format.h"

#include "parsers/input/text_scan.h"

#include <algorithm>
#include <charconv>

namespace whichlock {
namespace {

/// Takes the line off the front of `text`.
std::string_view nextLine(std::string_view& text)
{
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
}

/// The number behind `key` in `offset:8;`, up to the semicolon.
template <class T> bool numberBehind(std::string_view line, std::string_view key, T& value)
{
    const size_t at = line.find(key);
    if (at == std::string_view::npos)
        return false;
    const std::string_view text = trimmed(line.substr(at + key.size()));
    return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc();
}

constexpr std::string_view kDynamic = "__data_loc ";
constexpr std::string_view kRelative = "__rel_loc ";

/// Splits `unsigned long args[6]` into type and name.
bool readDeclaration(std::string_view declaration, TracepointField& field)
{
    if (declaration.starts_with(kDynamic)) {
        field.kind = TracepointFieldKind::Dynamic;
        declaration.remove_prefix(kDynamic.size());
    } else if (declaration.starts_with(kRelative)) {
        field.kind = TracepointFieldKind::DynamicRelative;
        declaration.remove_prefix(kRelative.size());
    }
    std::string_view brackets;
    if (const size_t open = declaration.find('['); declaration.ends_with(']') && open != 0) {
        if (open == std::string_view::npos)
            return false;
        // The brackets stand behind the name in arrays, behind the type in dynamic ones: `char[] name`.
        brackets = declaration.substr(open);
        declaration = declaration.substr(0, open);
        if (field.kind == TracepointFieldKind::Integer)
            field.kind = TracepointFieldKind::Array;
    }
    const size_t blank = declaration.find_last_of(" \t*]");
    const std::string_view name =
        blank == std::string_view::npos ? declaration : declaration.substr(blank + 1);
    if (name.empty())
        return false;
    field.name = name;
    field.type = trimmed(declaration.substr(0, declaration.size() - name.size()));
    field.type += brackets;
    return true;
}

/// Reads `field:char prev_comm[16];	offset:8;	size:16;	signed:0;`.
std::optional<TracepointField> readField(std::string_view line)
{
    const size_t end = line.find(';');
    if (end == std::string_view::npos)
        return std::nullopt;
    TracepointField field;
    if (!readDeclaration(trimmed(line.substr(0, end)), field))
        return std::nullopt;
    const std::string_view numbers = line.substr(end);
    if (!numberBehind(numbers, "offset:", field.offset) || !numberBehind(numbers, "size:", field.size))
        return std::nullopt;
    unsigned isSigned = 0; // the first kernels did not tell
    numberBehind(numbers, "signed:", isSigned);
    field.isSigned = isSigned != 0;
    return field;
}

} // namespace

const TracepointField* TracepointFormat::find(std::string_view field) const
{
    const auto found = std::ranges::find(fields, field, &TracepointField::name);
    return found == fields.end() ? nullptr : &*found;
}

std::optional<TracepointFormat> parseTracepointFormat(std::string_view system, std::string_view text)
{
    constexpr std::string_view kName = "name:";
    constexpr std::string_view kId = "ID:";
    constexpr std::string_view kField = "field:";
    constexpr std::string_view kPrint = "print fmt:";
    TracepointFormat format;
    format.system = system;
    while (!text.empty()) {
        const std::string_view line = trimmed(nextLine(text));
        if (line.starts_with(kName)) {
            format.name = trimmed(line.substr(kName.size()));
        } else if (line.starts_with(kId)) {
            numberBehind(line, kId, format.id);
        } else if (line.starts_with(kPrint)) {
            format.printFormat = trimmed(line.substr(kPrint.size()));
        } else if (line.starts_with(kField)) {
            if (std::optional<TracepointField> field = readField(line.substr(kField.size())))
                format.fields.push_back(std::move(*field));
        }
    }
    if (format.name.empty())
        return std::nullopt;
    return format;
}

std::string_view tracepointBytes(std::string_view raw, ByteOrder order, const TracepointField& field)
{
    if (field.offset > raw.size() || field.size > raw.size() - field.offset)
        return {};
    const std::string_view own = raw.substr(field.offset, field.size);
    if (field.kind == TracepointFieldKind::Integer || field.kind == TracepointFieldKind::Array)
        return own;
    if (own.size() < sizeof(uint32_t))
        return {};
    const uint32_t place = loadInteger<uint32_t>(own.data(), order);
    size_t offset = place & 0xffffU;
    const size_t length = place >> 16U;
    if (field.kind == TracepointFieldKind::DynamicRelative)
        offset += size_t{field.offset} + field.size;
    if (offset > raw.size() || length > raw.size() - offset)
        return {};
    return raw.substr(offset, length);
}

std::string_view tracepointText(std::string_view raw, ByteOrder order, const TracepointField& field)
{
    return beforeNul(tracepointBytes(raw, order, field));
}

std::optional<uint64_t> tracepointElement(
    std::string_view raw, ByteOrder order, const TracepointField& field, size_t index, size_t elementBytes)
{
    const std::string_view bytes = tracepointBytes(raw, order, field);
    if (elementBytes == 0 || index >= bytes.size() / elementBytes)
        return std::nullopt;
    const char* const at = bytes.data() + index * elementBytes;
    const auto extended = [&](auto value) {
        const unsigned shift = 64U - 8U * static_cast<unsigned>(sizeof value);
        const uint64_t high = static_cast<uint64_t>(value) << shift;
        return field.isSigned ? static_cast<uint64_t>(static_cast<int64_t>(high) >> shift)
                              : static_cast<uint64_t>(value);
    };
    switch (elementBytes) {
    case 1:
        return extended(loadInteger<uint8_t>(at, order));
    case 2:
        return extended(loadInteger<uint16_t>(at, order));
    case 4:
        return extended(loadInteger<uint32_t>(at, order));
    case 8:
        return extended(loadInteger<uint64_t>(at, order));
    default:
        return std::nullopt;
    }
}

std::optional<uint64_t> tracepointInteger(std::string_view raw, ByteOrder order, const TracepointField& field)
{
    if (field.kind != TracepointFieldKind::Integer)
        return std::nullopt;
    return tracepointElement(raw, order, field, 0, field.size);
}

} // namespace whichlock
