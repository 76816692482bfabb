// SPDX-License-Identifier: GPL-3.0-or-later
// Single lines of what pprof prints. Pure functions on strings.
#pragma once

#include "parsers/fixed_point.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace whichlock::pprof {

/// `25.55s`, `10ms`, `0`: a time in ns, else a number.
struct Amount {
    uint64_t value = 0;
    bool isTime = false;
};

/// Empty for what is neither: `1.5MB`.
std::optional<Amount> amountOf(std::string_view word);

struct TopRow {
    Amount flat{};
    Amount cum{};
    std::string_view name{};
    uint64_t line = 0;
};

/// `25.55s   100%   100%     25.55s   100%  sync.(*Mutex).Unlock`.
std::optional<TopRow> topRowOf(std::string_view line);
/// `flat  flat%   sum%        cum   cum%`.
bool isTopColumns(std::string_view line);
/// A line that pprof prints above its column names.
bool isHeadLine(std::string_view line);
/// Whether such a line says that the profile is of processors.
bool isOfCpu(std::string_view line);
/// The total that such a line has, if it has one.
std::optional<Amount> totalOf(std::string_view line);

/// `-----------+-------------------------------`.
bool isTraceRule(std::string_view line);

struct TraceValue {
    Amount value{};
    std::string_view name{};
};

/// `     25.55s   sync.(*Mutex).Unlock`: the first line of a stack.
std::optional<TraceValue> traceValueOf(std::string_view line);

// What functions of Go do.
bool isUnlock(std::string_view function);
bool isLock(std::string_view function);
/// Takes locks, or waits for a channel, a condition or a group.
bool isBlocking(std::string_view function);

} // namespace whichlock::pprof
