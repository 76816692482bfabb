// SPDX-License-Identifier: GPL-3.0-or-later
// The fields of the raw data of a tracepoint: the kernel's own description of them, or a built-in one.
#pragma once

#include "parsers/input/byte_reader.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock {

/// How the value of a field is found.
enum class TracepointFieldKind : uint8_t {
    Integer,         ///< `size` bytes at `offset`
    Array,           ///< `size` bytes at `offset`: `char comm[16]`, `unsigned long args[6]`
    Dynamic,         ///< __data_loc: where and how long, counted from the start of the data
    DynamicRelative, ///< __rel_loc: counted from the end of the field
};

struct TracepointField {
    std::string name{};
    std::string type{}; ///< as declared, without the name: `char[16]`, `unsigned long`
    uint32_t offset = 0;
    uint32_t size = 0;
    bool isSigned = false;
    TracepointFieldKind kind = TracepointFieldKind::Integer;
};

/// Byte order and all of a tracepoint's data. MT: safe, nothing changes after it was made.
struct TracepointFormat {
    std::string system{};
    std::string name{};
    uint64_t id = 0;
    std::vector<TracepointField> fields{}; ///< the common ones first
    std::string printFormat{};             ///< the text behind `print fmt:`
    bool builtIn = false;                  ///< not from the file: correct for common kernels only

    /// Null when there is no such field.
    const TracepointField* find(std::string_view field) const;
};

/// Reads a `format` file. Nothing without a name; lines that cannot be read are left out.
std::optional<TracepointFormat> parseTracepointFormat(std::string_view system, std::string_view text);

/// The layout of an event in common kernels (8 bytes of common fields, 64 bit); null when it is not known.
std::shared_ptr<const TracepointFormat> builtInTracepointFormat(std::string_view eventName);

/// An integer field of at most 8 bytes, sign-extended when it is signed. Nothing when it lies outside.
std::optional<uint64_t> tracepointInteger(
    std::string_view raw, ByteOrder order, const TracepointField& field);
/// Element `index` of an array of integers of `elementBytes` (1, 2, 4, 8); nothing when it lies outside.
std::optional<uint64_t> tracepointElement(
    std::string_view raw, ByteOrder order, const TracepointField& field, size_t index, size_t elementBytes);
/// The text of a char array, fixed or dynamic, up to its NUL. Empty when it lies outside.
std::string_view tracepointText(std::string_view raw, ByteOrder order, const TracepointField& field);
/// The bytes of a field, dynamic ones resolved. Empty when they lie outside.
std::string_view tracepointBytes(std::string_view raw, ByteOrder order, const TracepointField& field);

} // namespace whichlock
