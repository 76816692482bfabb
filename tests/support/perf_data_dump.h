// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that a reader of perf.data delivers, as text, so that two readings can be compared.
#pragma once

#include "parsers/perf_data/perf_data_sink.h"

#include <string>

namespace whichlock::test {

/// One line a call. Touches every byte and number that is delivered.
class PerfDataDump : public PerfDataSink {
public:
    const std::string& text() const { return text_; }

    void event(const PerfEvent& event) override;
    void hostFacts(const PerfHostFacts& facts) override;
    void buildId(const PerfBuildId& buildId) override;
    void mapping(const PerfRecord& record, const PerfMapping& mapping) override;
    void comm(const PerfRecord& record, const PerfComm& comm) override;
    void fork(const PerfRecord& record, const PerfTask& task) override;
    void exit(const PerfRecord& record, const PerfTask& task) override;
    void lost(const PerfRecord& record, const PerfLost& lost) override;
    void contextSwitch(const PerfRecord& record, const PerfSwitch& change) override;
    void throttle(const PerfRecord& record, const PerfThrottle& throttle) override;
    void kernelSymbol(const PerfRecord& record, const PerfKernelSymbol& symbol) override;
    void textPoke(const PerfRecord& record, const PerfTextPoke& poke) override;
    void cgroup(const PerfRecord& record, const PerfCgroup& cgroup) override;
    void namespaces(const PerfRecord& record, const PerfNamespaces& spaces) override;
    void deferredCallchain(const PerfRecord& record, const PerfDeferredCallchain& chain) override;
    void watchedTask(const PerfRecord& record, uint64_t pid, std::string_view comm) override;
    void sample(const PerfRecord& record, const PerfSample& sample) override;
    void finishedRound(const PerfRecord& record) override;
    void diagnostic(Diagnostic diagnostic) override;

private:
    void line(const PerfRecord& record, std::string_view what);
    void rawFields(const PerfSample& sample);

    std::string text_;
    std::vector<PerfEvent> events_;
};

} // namespace whichlock::test
