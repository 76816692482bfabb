// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/pprof_rows.h"

#include "parsers/formats/lock_figures.h"
#include "parsers/input/text_scan.h"

#include <algorithm>

namespace whichlock::pprof {
namespace {

/// The part of a Go function behind its package.
std::string_view baseOf(std::string_view function)
{
    const size_t slash = function.rfind('/');
    return slash == std::string_view::npos ? function : function.substr(slash + 1);
}

bool isPercent(std::string_view word)
{
    return word.size() > 1 && word.back() == '%'
        && (isAllDigits(word.substr(0, word.size() - 1)) || isDecimal(word.substr(0, word.size() - 1)));
}

} // namespace

std::optional<Amount> amountOf(std::string_view word)
{
    if (const auto number = parseUnsigned(word))
        return Amount{*number, false};
    const size_t unit = std::min(word.find_first_not_of("0123456789."), word.size());
    if (unit == 0)
        return std::nullopt;
    std::string_view name = word.substr(unit);
    name = name == "mins" ? "m" : name == "hrs" ? "h" : name;
    constexpr std::string_view kTimes[] = {"ns", "us", "ms", "s", "m", "h"};
    if (std::find(std::begin(kTimes), std::end(kTimes), name) == std::end(kTimes))
        return std::nullopt;
    const auto ns = locktable::timeNs(word.substr(0, unit), name);
    return ns ? std::optional(Amount{*ns, true}) : std::nullopt;
}

std::optional<TopRow> topRowOf(std::string_view line)
{
    const auto flat = amountOf(nextToken(line));
    if (!flat || !isPercent(nextToken(line)) || !isPercent(nextToken(line)))
        return std::nullopt;
    const auto cum = amountOf(nextToken(line));
    if (!cum || !isPercent(nextToken(line)))
        return std::nullopt;
    std::string_view name = trimmed(line);
    constexpr std::string_view kInline = " (inline)";
    if (name.ends_with(kInline))
        name.remove_suffix(kInline.size());
    return name.empty() ? std::nullopt : std::optional(TopRow{*flat, *cum, name});
}

bool isTopColumns(std::string_view line)
{
    return nextToken(line) == "flat" && nextToken(line) == "flat%" && nextToken(line) == "sum%"
        && nextToken(line) == "cum" && nextToken(line) == "cum%";
}

bool isHeadLine(std::string_view line)
{
    line = trimmed(line);
    constexpr std::string_view kBegins[] = {"File: ", "Build ID: ", "Type: ", "Time: ", "Duration: ",
        "Showing nodes accounting for ", "Showing top ", "Dropped ", "Active filters:", "Total: "};
    return std::any_of(std::begin(kBegins), std::end(kBegins), [&](std::string_view begin) {
        return line.starts_with(begin);
    }) || (!line.empty() && isDigit(line.front()) && totalOf(line));
}

bool isOfCpu(std::string_view line)
{
    line = trimmed(line);
    return line == "Type: cpu" || line.find("Total samples = ") != std::string_view::npos;
}

std::optional<Amount> totalOf(std::string_view line)
{
    line = trimmed(line);
    const size_t of = line.rfind(" of ");
    if (of == std::string_view::npos)
        return std::nullopt;
    std::string_view rest = line.substr(of + 4);
    const auto amount = amountOf(nextToken(rest));
    const std::string_view word = nextToken(rest);
    return amount && word == "total" ? amount : std::nullopt;
}

bool isTraceRule(std::string_view line)
{
    line = trimmed(line);
    const size_t plus = line.find('+');
    constexpr size_t kFewestDashes = 5;
    return plus != std::string_view::npos && plus >= kFewestDashes && line.size() > plus + kFewestDashes
        && line.find_first_not_of('-') == plus
        && line.find_first_not_of('-', plus + 1) == std::string_view::npos;
}

std::optional<TraceValue> traceValueOf(std::string_view line)
{
    if (line.empty() || !isBlank(line.front()))
        return std::nullopt;
    std::string_view rest = line;
    const auto amount = amountOf(nextToken(rest));
    std::string_view name = trimmed(rest);
    constexpr std::string_view kInline = " (inline)";
    if (name.ends_with(kInline))
        name.remove_suffix(kInline.size());
    return amount && !name.empty() ? std::optional(TraceValue{*amount, name}) : std::nullopt;
}

bool isUnlock(std::string_view function)
{
    const std::string_view base = baseOf(function);
    return base.ends_with(").Unlock") || base.ends_with(").RUnlock") || base.ends_with("unlockSlow")
        || base.starts_with("runtime.unlock") || base == "runtime._LostContendedRuntimeLock";
}

bool isLock(std::string_view function)
{
    const std::string_view base = baseOf(function);
    return base.ends_with(").Lock") || base.ends_with(").RLock") || base.ends_with("lockSlow")
        || base.starts_with("runtime.lock");
}

bool isBlocking(std::string_view function)
{
    const std::string_view base = baseOf(function);
    return isLock(function) || base.starts_with("runtime.chan") || base.starts_with("runtime.select")
        || base.starts_with("runtime.block") || base == "sync.(*Cond).Wait"
        || base == "sync.(*WaitGroup).Wait" || base.starts_with("runtime.semacquire")
        || base.starts_with("sync.runtime_Sem");
}

} // namespace whichlock::pprof
