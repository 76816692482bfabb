// SPDX-License-Identifier: GPL-3.0-or-later
// Single lines of `perf script` text: headers, frames, comments. Pure functions on strings.
#pragma once

#include "parsers/record.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace whichlock::perfscript {

/// The line that begins a sample: `comm pid/tid [cpu] time: period event: text`; columns may be missing.
struct Header {
    std::string_view comm{};
    int32_t pid = -1;
    int32_t tid = -1;
    int32_t cpu = -1;
    std::optional<uint64_t> timeNs{};
    std::optional<uint64_t> period{};
    std::string_view event{}; ///< as printed, without the colon behind it; empty if not printed
    std::string_view text{};  ///< what stands behind the event: address and symbol, or fields of a tracepoint
    bool strong = false;      ///< the time or the CPU is printed: not easily met in prose
    bool isRecord = false;    ///< a `PERF_RECORD_*` line; `event` is that name
    bool overflow = false;    ///< the period does not fit into 64 bits
    /// Text of the kernel's own tracer (`comm-tid [cpu] time: event: fields`): the event is a tracepoint,
    /// though its subsystem is not printed, or a function or message. perf itself prints that shape no more.
    bool kernelTrace = false;
};

/// Reads a header; empty when the line is none. Looks at a bounded part of long lines.
std::optional<Header> parseHeader(std::string_view line);

/// What a line is as a frame.
enum class FrameShape : uint8_t {
    None,
    Open,  ///< address and perhaps a symbol, without an object: not printed, or on the next line
    Whole, ///< `address symbol+0xoff (object)` or `address symbol (inlined)`
};

/// Reads a frame into `frame`, whose views point into `line`.
FrameShape parseFrame(std::string_view line, TextFrame& frame);

/// What an event of perf counts.
enum class EventClass : uint8_t {
    Clock,      ///< cpu-clock, task-clock: the period is in nanoseconds
    Hardware,   ///< cycles and whatever a PMU counts
    Happening,  ///< context-switches, page-faults: software events that are counted
    OffCpu,     ///< offcpu-time: the period is the nanoseconds slept
    Tracepoint, ///< `subsystem:name`
};

EventClass classOf(std::string_view event);
EventClass classOf(const Header& header);

/// One line of the block that `--header` prints: `# key : value`. The key is empty if the line is none.
struct HeaderField {
    std::string_view key{};
    std::string_view value{};
};

HeaderField parseHeaderField(std::string_view line);
/// What a field of it says about the recording, if it is one of those that are kept.
std::optional<FactKind> factOf(const HeaderField& field);
/// The line that opens and closes this block.
bool isHeaderRule(std::string_view line);
/// The number of events that a `PERF_RECORD_LOST*` line names, 0 if none.
uint64_t lostEvents(const Header& record);
/// A line that `-F srcline` prints below a frame: `  file.c:123`, `  object[address]`.
bool isSourceLine(std::string_view line);

} // namespace whichlock::perfscript
