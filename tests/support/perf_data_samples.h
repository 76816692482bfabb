// SPDX-License-Identifier: GPL-3.0-or-later
// Small recordings that hold all there can be in one, for tests and as seeds of the fuzzer.
#pragma once

#include "tests/support/perf_data_writer.h"

#include <string>
#include <utility>
#include <vector>

namespace whichlock::test {

/// One sample that has every field; its values stand in the test.
PerfFileWriter allSampleFields(bool big);
/// One record of each type of the kernel, with trailers, and some of the tool.
PerfFileWriter allRecords(bool big);
/// Two tracepoints with formats and a software event, told apart by their ids; feature sections.
PerfFileWriter tracepoints(bool big);
/// COMPRESSED records, unaligned, with records that are split between them; `second`: COMPRESSED2.
PerfFileWriter compressed(bool second);
/// The first format, with its own list of names.
std::string version1(bool big);

/// All of these with names, as files and as streams.
std::vector<std::pair<std::string, std::string>> namedPerfData();

/// Descriptions of the two tracepoints.
extern const std::string kSwitchFormat;
extern const std::string kDynamicFormat;

} // namespace whichlock::test
