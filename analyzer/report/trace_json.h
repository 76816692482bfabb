// SPDX-License-Identifier: GPL-3.0-or-later
// The fields of a trace in the JSON contract.
#pragma once

#include "analyzer/report/report.h"

#include <nlohmann/json_fwd.hpp>

namespace whichlock {

/// Adds the fields of a trace to those of its section.
void putTrace(nlohmann::ordered_json& json, const ReportSection& section);

} // namespace whichlock
