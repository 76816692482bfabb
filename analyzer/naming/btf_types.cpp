// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/btf_types.h"

#include <cstring>
#include <optional>

namespace whichlock {
namespace {

constexpr uint16_t kMagic = 0xeb9f;
constexpr size_t kHeaderBytes = 24;
constexpr size_t kTypeBytes = 12;
constexpr size_t kMostBytes = 256U << 20;

uint32_t wordAt(std::span<const uint8_t> bytes, size_t offset)
{
    uint32_t word = 0;
    if (offset <= bytes.size() && sizeof word <= bytes.size() - offset)
        std::memcpy(&word, bytes.data() + offset, sizeof word);
    return word;
}

/// How many bytes follow a record; nothing for unknown kinds, behind which nothing can be read.
std::optional<size_t> tailBytes(BtfKind kind, uint32_t count)
{
    switch (kind) {
    case BtfKind::Int:
    case BtfKind::Variable:
    case BtfKind::DeclarationTag:
        return size_t{4};
    case BtfKind::Array:
        return size_t{12};
    case BtfKind::Struct:
    case BtfKind::Union:
    case BtfKind::DataSection:
    case BtfKind::Enum64:
        return size_t{12} * count;
    case BtfKind::Enum:
    case BtfKind::Prototype:
        return size_t{8} * count;
    case BtfKind::Pointer:
    case BtfKind::Forward:
    case BtfKind::Typedef:
    case BtfKind::Volatile:
    case BtfKind::Const:
    case BtfKind::Restrict:
    case BtfKind::Function:
    case BtfKind::Float:
    case BtfKind::TypeTag:
        return size_t{0};
    case BtfKind::Void:
        break;
    }
    return std::nullopt;
}

tl::unexpected<Error> damaged(std::string what)
{
    return fail(DiagnosticCode::FileUnreadable, std::move(what), {});
}

Result<void> readInto(std::span<const uint8_t> btf, BtfTypes& into)
{
    uint16_t magic = 0;
    if (btf.size() < kHeaderBytes || btf.size() > kMostBytes)
        return damaged("is no BTF");
    std::memcpy(&magic, btf.data(), sizeof magic);
    const size_t header = wordAt(btf, 4);
    if (magic != kMagic || header < kHeaderBytes || header > btf.size())
        return damaged("is no BTF of this byte order");
    const std::span<const uint8_t> body = btf.subspan(header);
    const size_t typeAt = wordAt(btf, 8);
    const size_t typeBytes = wordAt(btf, 12);
    const size_t textAt = wordAt(btf, 16);
    const size_t textBytes = wordAt(btf, 20);
    if (typeAt > body.size() || typeBytes > body.size() - typeAt || textAt > body.size()
        || textBytes > body.size() - textAt)
        return damaged("is BTF that is cut short");
    std::span<const uint8_t> rest = body.subspan(typeAt, typeBytes);
    while (rest.size() >= kTypeBytes) {
        const uint32_t info = wordAt(rest, 4);
        BtfType type{.kind = static_cast<BtfKind>(info >> 24 & 0x1f),
            .flag = (info >> 31) != 0,
            .name = wordAt(rest, 0),
            .count = info & 0xffff,
            .sizeOrType = wordAt(rest, 8)};
        const auto tail = tailBytes(type.kind, type.count);
        if (!tail || *tail > rest.size() - kTypeBytes)
            return damaged("is BTF with a damaged type");
        type.tail = rest.subspan(kTypeBytes, *tail);
        into.types.push_back(type);
        rest = rest.subspan(kTypeBytes + *tail);
    }
    const std::span<const uint8_t> text = body.subspan(textAt, textBytes);
    into.strings.insert(into.strings.end(), text.begin(), text.end());
    return {};
}

} // namespace

uint32_t BtfType::word(size_t index) const
{
    return wordAt(tail, index * sizeof(uint32_t));
}

std::string_view BtfTypes::text(uint32_t offset) const
{
    return offset < strings.size() ? std::string_view(strings.data() + offset) : std::string_view();
}

Result<BtfTypes> readBtf(std::span<const uint8_t> btf, std::span<const uint8_t> base)
{
    BtfTypes all;
    all.types.emplace_back();
    if (!base.empty())
        if (auto read = readInto(base, all); !read)
            return tl::make_unexpected(read.error());
    if (auto read = readInto(btf, all); !read)
        return tl::make_unexpected(read.error());
    all.strings.push_back('\0');
    return all;
}

} // namespace whichlock
