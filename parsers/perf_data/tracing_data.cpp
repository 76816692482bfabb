// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/perf_data/tracing_data.h"

namespace whichlock {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "\x17\x08\x44tracing"sv;

/// Adds the format of `text`; the first of a number stays.
void addFormat(TracingData& data, std::string_view system, std::string_view text)
{
    std::optional<TracepointFormat> format = parseTracepointFormat(system, text);
    if (!format)
        return;
    const uint64_t id = format->id;
    data.formats.try_emplace(id, std::make_shared<const TracepointFormat>(std::move(*format)));
}

/// A number of texts, each behind its size.
void readFormats(TracingData& data, ByteReader& reader, std::string_view system)
{
    const uint32_t count = reader.u32();
    for (uint32_t i = 0; i < count && reader.ok(); ++i)
        addFormat(data, system, reader.bytes(reader.u64()));
}

/// A header behind its name, which is a text with a NUL.
bool skipHeader(ByteReader& reader, std::string_view name)
{
    if (reader.untilNul() != name)
        return false;
    reader.skip(reader.u64());
    return reader.ok();
}

} // namespace

TracingData parseTracingData(std::string_view bytes)
{
    TracingData data;
    if (!bytes.starts_with(kMagic)) {
        data.damage = "it does not begin as tracing data";
        return data;
    }
    ByteReader front(bytes.substr(kMagic.size()), kHostOrder);
    front.untilNul(); // the version: what differs lies behind the formats
    const ByteOrder order = front.u8() != 0 ? ByteOrder::Big : ByteOrder::Little;
    data.longBytes = front.u8();
    ByteReader reader(front.rest(), order);
    reader.skip(4); // page size
    if (!skipHeader(reader, "header_page") || !skipHeader(reader, "header_event")) {
        data.damage = "its headers cannot be read";
        return data;
    }
    readFormats(data, reader, "ftrace");
    const uint32_t systems = reader.u32();
    for (uint32_t i = 0; i < systems && reader.ok(); ++i) {
        const std::string_view system = reader.untilNul();
        readFormats(data, reader, system);
    }
    if (!reader.ok())
        data.damage = "it is cut";
    return data;
}

} // namespace whichlock
