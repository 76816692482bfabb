// SPDX-License-Identifier: GPL-3.0-or-later
// Values of the report as JSON. Percentages become doubles here and in the other renderers only.
#pragma once

#include "parsers/fixed_point.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace whichlock {

using Json = nlohmann::ordered_json;

/// Parts per billion as a percentage.
inline double percent(Share share)
{
    return static_cast<double>(share.ppb) / static_cast<double>(Share::kPercent);
}

/// Adds the field, unless the text is empty.
inline void put(Json& to, const std::string& name, const std::string& text)
{
    if (!text.empty())
        to[name] = text;
}

/// Adds the field as a percentage, if there is a share.
inline void put(Json& to, const std::string& name, const std::optional<Share>& share)
{
    if (share)
        to[name] = percent(*share);
}

/// Adds the field, if there is a value.
inline void put(Json& to, const std::string& name, const std::optional<uint64_t>& value)
{
    if (value)
        to[name] = *value;
}

} // namespace whichlock
