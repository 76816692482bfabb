// SPDX-License-Identifier: GPL-3.0-or-later
// A sink for tests of the perf.data reader: keeps what outlives the reading, checks samples as they come.
#pragma once

#include "parsers/perf_data/perf_data_reader.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace whichlock::test {

/// Runs checks on what is delivered, while it is valid.
class CheckingSink : public PerfDataSink {
public:
    void event(const PerfEvent& event) override
    {
        if (events.size() <= event.index)
            events.resize(event.index + size_t{1});
        events[event.index] = event;
    }
    void hostFacts(const PerfHostFacts& told) override { facts = told; }
    void buildId(const PerfBuildId& told) override
    {
        buildIds.push_back(std::string(told.id) + " " + std::string(told.fileName));
    }
    void sample(const PerfRecord& record, const PerfSample& sample) override
    {
        ++samples;
        eventsOfSamples.push_back(sample.event);
        if (onSample)
            onSample(record, sample);
    }
    void diagnostic(Diagnostic diagnostic) override { diagnostics.push_back(std::move(diagnostic)); }

    std::vector<PerfEvent> events;
    PerfHostFacts facts;
    std::vector<std::string> buildIds;
    std::vector<uint32_t> eventsOfSamples;
    uint64_t samples = 0;
    std::vector<Diagnostic> diagnostics;
    std::function<void(const PerfRecord&, const PerfSample&)> onSample;
};

inline PerfDataSummary read(const std::string& bytes, PerfDataSink& sink)
{
    const Result<PerfDataSummary> summary = readPerfData(bytes, "perf.data", sink);
    EXPECT_TRUE(summary.has_value());
    return summary.value_or(PerfDataSummary());
}

} // namespace whichlock::test
