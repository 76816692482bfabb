// SPDX-License-Identifier: GPL-3.0-or-later
// Words of the JSON contract for enumerators.
#pragma once

#include "analyzer/report/report.h"

#include <string_view>

namespace whichlock {

std::string_view kindName(SectionKind kind);
std::string_view quantityName(QuantityKind kind);
std::string_view seesName(Sees sees);
std::string_view guiltyName(Guilty guilty);

} // namespace whichlock
