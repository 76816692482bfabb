// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of lock statistics in the JSON contract.
#pragma once

#include "analyzer/report/report_lock_table.h"

#include <nlohmann/json_fwd.hpp>

namespace whichlock {

/// Adds the fields of such a table to those of its section.
void putLockTable(nlohmann::ordered_json& json, const ReportLockTable& table);

} // namespace whichlock
