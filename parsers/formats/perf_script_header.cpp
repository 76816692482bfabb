// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/fixed_point.h"
#include "parsers/formats/perf_script_rows.h"
#include "parsers/input/text_scan.h"

#include <algorithm>
#include <limits>

namespace whichlock::perfscript {
namespace {

constexpr std::string_view kRecordPrefix = "PERF_RECORD_";

/// Kernel workers have names of up to 63 bytes; the process id must begin within this.
constexpr size_t kMostCommBytes = 80;
constexpr size_t kMostEventBytes = 1024;

/// Walks over a line. Its steps move on only where they find what they look for.
class Scanner {
public:
    explicit Scanner(std::string_view text)
        : rest_(text)
    {
    }

    std::string_view rest() const { return rest_; }

    void skipBlanks()
    {
        while (!rest_.empty() && isBlank(rest_.front()))
            rest_.remove_prefix(1);
    }

    std::string_view peekToken() const
    {
        size_t end = 0;
        while (end < rest_.size() && end < kMostEventBytes && !isBlank(rest_[end]))
            ++end;
        return rest_.substr(0, end);
    }

    /// Past `bytes` and the blanks behind them.
    void take(size_t bytes)
    {
        rest_.remove_prefix(bytes);
        skipBlanks();
    }

private:
    std::string_view rest_;
};

std::optional<int32_t> parseId(std::string_view text)
{
    const bool negative = text.starts_with('-');
    if (negative)
        text.remove_prefix(1);
    constexpr size_t kMostDigits = 10;
    if (text.empty() || text.size() > kMostDigits)
        return std::nullopt;
    int64_t value = 0;
    for (const char c : text) {
        if (!isDigit(c))
            return std::nullopt;
        value = value * 10 + (c - '0');
    }
    if (value > std::numeric_limits<int32_t>::max())
        return std::nullopt;
    return static_cast<int32_t>(negative ? -value : value);
}

/// `15155` is a thread, `27409/28744` process and thread.
bool takeIds(Scanner& scan, Header& header)
{
    const std::string_view token = scan.peekToken();
    const size_t slash = token.find('/');
    const auto first = parseId(token.substr(0, slash));
    if (!first)
        return false;
    if (slash == std::string_view::npos) {
        header.tid = *first;
    } else {
        const auto second = parseId(token.substr(slash + 1));
        if (!second)
            return false;
        header.pid = *first;
        header.tid = *second;
    }
    scan.take(token.size());
    return true;
}

bool takeCpu(Scanner& scan, Header& header)
{
    constexpr size_t kFewestDigits = 3;
    const std::string_view token = scan.peekToken();
    if (token.size() < kFewestDigits + 2 || token.front() != '[' || token.back() != ']')
        return false;
    const auto cpu = parseId(token.substr(1, token.size() - 2));
    if (!cpu || *cpu < 0)
        return false;
    header.cpu = *cpu;
    scan.take(token.size());
    return true;
}

/// `670.698257:`, with 9 digits behind the point where --ns is given. No other number of digits is ever
/// printed; `6009.0001:` is an id of a device in a kernel log.
bool takeTime(Scanner& scan, Header& header)
{
    constexpr size_t kMicroseconds = 6;
    constexpr size_t kMostDecimals = 9;
    std::string_view token = scan.peekToken();
    if (!token.ends_with(':') || !isDigit(token.front()))
        return false;
    const size_t length = token.size();
    token.remove_suffix(1);
    const size_t point = token.find('.');
    if (point == std::string_view::npos)
        return false;
    const std::string_view decimals = token.substr(point + 1);
    if ((decimals.size() != kMicroseconds && decimals.size() != kMostDecimals) || !isAllDigits(decimals)
        || !isAllDigits(token.substr(0, point)))
        return false;
    const auto seconds = parseUnsigned(token.substr(0, point));
    uint64_t nanoseconds = parseUnsigned(decimals).value_or(0);
    for (size_t digits = decimals.size(); digits < kMostDecimals; ++digits)
        nanoseconds *= 10;
    uint64_t time = 0;
    if (seconds && !__builtin_mul_overflow(*seconds, uint64_t{1'000'000'000}, &time)
        && !__builtin_add_overflow(time, nanoseconds, &time))
        header.timeNs = time;
    scan.take(length);
    return true;
}

/// `d..3.`: the state of interrupts and preemption, which the kernel's tracer prints behind the CPU.
bool isTracerState(std::string_view token)
{
    constexpr size_t kFewest = 4;
    constexpr size_t kMost = 6;
    return token.size() >= kFewest && token.size() <= kMost && token.find('.') != std::string_view::npos
        && token.find_first_not_of(".dDnNpPhHsSzZbBlL#0123456789") == std::string_view::npos
        && !isDigit(token.front());
}

/// The columns misc (`KUH`) and tod (`2026-01-31 12:00:00.123456`), which stand before the time.
void skipMiscAndDate(Scanner& scan)
{
    constexpr size_t kMostFlags = 8;
    const std::string_view flags = scan.peekToken();
    if (!flags.empty() && flags.size() <= kMostFlags
        && flags.find_first_not_of("KUHGgMESDp") == std::string_view::npos)
        scan.take(flags.size());
    const std::string_view date = scan.peekToken();
    if (date.size() == 10 && date[4] == '-' && date[7] == '-' && isAllDigits(date.substr(0, 4))) {
        scan.take(date.size());
        scan.take(scan.peekToken().size());
    }
}

bool mayBeginAnEvent(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// The event ends at the first colon that a blank or the end of the line follows. Old versions print
/// `raw 0x1a8:`; no other name has a blank.
bool takeEvent(Scanner& scan, Header& header)
{
    const std::string_view rest = scan.rest();
    if (rest.empty() || !mayBeginAnEvent(rest.front()))
        return false;
    std::string_view token = scan.peekToken();
    if (token.starts_with(kRecordPrefix)) {
        header.isRecord = true;
        header.event = token.ends_with(':') ? token.substr(0, token.size() - 1) : token;
        scan.take(token.size());
        header.text = scan.rest();
        return true;
    }
    if (token == "raw") {
        Scanner second(rest);
        second.take(token.size());
        const std::string_view number = second.peekToken();
        if (number.starts_with("0x"))
            token = rest.substr(0, static_cast<size_t>(number.data() - rest.data()) + number.size());
    }
    if (token.size() < 2 || !token.ends_with(':'))
        return false;
    header.event = token.substr(0, token.size() - 1);
    scan.take(token.size());
    header.text = scan.rest();
    return true;
}

bool isFrame(std::string_view text)
{
    TextFrame frame;
    return parseFrame(text, frame) == FrameShape::Whole;
}

/// Period and event. Without an event (-F) the line must end or go on with an address and a symbol.
bool takePeriodAndEvent(Scanner& scan, Header& header)
{
    if (takeEvent(scan, header))
        return true;
    const std::string_view number = scan.peekToken();
    const bool isNumber = isAllDigits(number);
    if (isNumber) {
        Scanner after = scan;
        after.take(number.size());
        const bool eventFollows = takeEvent(after, header);
        if (eventFollows || (header.timeNs && (after.rest().empty() || isFrame(after.rest())))) {
            header.period = parseUnsigned(number);
            header.overflow = !header.period;
            header.text = after.rest();
            return true;
        }
    }
    if (!header.timeNs || (!scan.rest().empty() && !isFrame(scan.rest())))
        return false;
    header.text = scan.rest();
    return true;
}

/// Everything behind the comm, which ends before `text`.
std::optional<Header> parseColumns(std::string_view text, bool hasComm)
{
    Header header;
    Scanner scan(text);
    const bool hasIds = takeIds(scan, header);
    const bool hasCpu = takeCpu(scan, header);
    bool hasTime = takeTime(scan, header);
    if (!hasTime && (hasIds || hasCpu)) {
        if (hasCpu && isTracerState(scan.peekToken())) {
            scan.take(scan.peekToken().size());
            header.kernelTrace = true;
        }
        skipMiscAndDate(scan);
        hasTime = takeTime(scan, header);
    }
    header.strong = hasTime || hasCpu;
    if ((!hasIds && !hasTime) || (!hasComm && !hasTime))
        return std::nullopt;
    if (!takePeriodAndEvent(scan, header) || (!header.strong && header.event.empty()))
        return std::nullopt;
    return header;
}

/// The first tools printed `comm-tid [cpu] time: event: text`.
void splitThreadFromComm(Header& header)
{
    const size_t dash = header.comm.rfind('-');
    if (header.tid != -1 || header.cpu == -1 || dash == std::string_view::npos || dash == 0)
        return;
    if (const auto tid = parseId(header.comm.substr(dash + 1))) {
        header.tid = *tid;
        header.comm = header.comm.substr(0, dash);
        header.kernelTrace = true;
    }
}

/// `xfs_ilock: dev 252:0 ino 0x43`: what perf prints behind an event that it samples is an address and a
/// symbol, and the names of counters have no underscores unless they are a PMU's.
bool hasFieldsOfATracepoint(const Header& header)
{
    constexpr size_t kFewestAddressDigits = 6;
    const std::string_view event = header.event;
    if (header.period || event.find('_') == std::string_view::npos || header.text.empty())
        return false;
    const bool isName = std::all_of(event.begin(), event.end(),
        [](char c) { return (c >= 'a' && c <= 'z') || isDigit(c) || c == '_' || c == '.'; });
    const std::string_view first = header.text.substr(0, header.text.find(' '));
    const bool isAddress = first.size() >= kFewestAddressDigits
        && first.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
    return isName && !isAddress && header.text.back() != ')';
}

/// What is left open by the columns alone: the kernel's tracer, and lines of a kernel log.
bool settleTrace(Header& header)
{
    splitThreadFromComm(header);
    header.kernelTrace = header.kernelTrace || hasFieldsOfATracepoint(header);
    const bool onlyTime = header.comm.empty() && header.tid == -1 && header.cpu == -1;
    if (!onlyTime || header.text.empty() || header.period)
        return true;
    return classOf(header.event) != EventClass::Hardware || isFrame(header.text);
}

} // namespace

std::optional<Header> parseHeader(std::string_view line)
{
    size_t start = 0;
    while (start < line.size() && line[start] == ' ')
        ++start;
    if (start == line.size() || line[start] == '\t' || line[start] == '#')
        return std::nullopt;
    const size_t mostStart = std::min(line.size(), start + kMostCommBytes);
    size_t at = start;
    while (at < mostStart) {
        const char c = line[at];
        // Only a number or `[cpu]` can be the first column behind the comm.
        if (isDigit(c) || c == '[' || c == '-') {
            if (auto header = parseColumns(line.substr(at), at > start)) {
                header->comm = trimmed(line.substr(start, at - start));
                return settleTrace(*header) ? header : std::nullopt;
            }
        }
        while (at < mostStart && !isBlank(line[at]))
            ++at;
        while (at < mostStart && isBlank(line[at]))
            ++at;
    }
    return std::nullopt;
}

} // namespace whichlock::perfscript
