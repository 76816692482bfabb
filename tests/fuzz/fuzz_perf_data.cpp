// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a recording of perf: read whole and in pieces, as the file has it and by time, with all that
// is delivered looked at.
#include "parsers/perf_data/perf_data_reader.h"
#include "tests/support/perf_data_dump.h"

#include <cstdint>
#include <cstdlib>

namespace {

void readBothWays(std::string_view bytes, const whichlock::PerfDataOptions& options)
{
    using namespace whichlock;
    test::PerfDataDump whole;
    const Result<PerfDataSummary> first = readPerfData(bytes, "input", whole, options);
    test::PerfDataDump pieces;
    const std::unique_ptr<Source> source = Source::fromMemory("input", bytes, 61);
    const Result<PerfDataSummary> second = readPerfData(*source, pieces, options);
    if (first.has_value() != second.has_value() || whole.text() != pieces.text())
        std::abort(); // the way in which a fuzzer is told
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    readBothWays(bytes, {});
    readBothWays(bytes, {.byTime = true});
    return 0;
}
