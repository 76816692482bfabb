// SPDX-License-Identifier: GPL-3.0-or-later
// The message of a pprof profile: its tables by id, and its samples as the bytes that they are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whichlock::pprof {

/// Functions inlined at one address; more are left out.
inline constexpr size_t kMostInlined = 64;

struct ValueType {
    std::string_view type{};
    std::string_view unit{};
};

struct Function {
    std::string_view name{};
    std::string_view file{};
};

struct Location {
    std::string text{};                                 ///< the address, for locations without functions
    std::vector<std::pair<uint64_t, uint32_t>> lines{}; ///< function and line, the innermost first
};

/// Views point into the bytes that were parsed.
struct Message {
    std::vector<ValueType> sampleTypes{};
    std::unordered_map<uint64_t, Function> functions{};
    std::unordered_map<uint64_t, Location> locations{};
    std::vector<std::string_view> samples{};
    bool damaged = false; ///< it ends inside of a field, or holds what is no field
};

/// One sample of a message.
struct Sample {
    std::vector<uint64_t> locations{}; ///< ids, the innermost first
    std::vector<uint64_t> values{};    ///< in the order of the sample types
};

/// Whether bytes begin as profiles do: with the type of their values.
bool looksLikeMessage(std::string_view bytes);

Message parseMessage(std::string_view bytes);
/// False where the sample is damaged.
bool parseSample(std::string_view bytes, Sample& sample);

} // namespace whichlock::pprof
