// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/perf_data/record_types.h"

namespace whichlock {

std::string_view recordTypeName(uint32_t type)
{
    switch (type) {
#define WHICHLOCK_PERF_RECORD(number, enumerator, name)                                                      \
    case number:                                                                                             \
        return name;
#include "parsers/perf_data/record_types.def"
#undef WHICHLOCK_PERF_RECORD
    default:
        return {};
    }
}

} // namespace whichlock
