// SPDX-License-Identifier: GPL-3.0-or-later
// Takes out of a report what must not leave the house: hosts, users, paths. Stable tokens take their place.
#pragma once

#include "analyzer/report/report.h"

namespace whichlock {

/// Replaces hosts, users, mail addresses, file paths and comms; the same text gets the same token everywhere.
void redact(Report& report);

} // namespace whichlock
