// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/session/filtering_sink.h"

namespace whichlock {

/// Texts name threads alone. A process has the name of its first thread, once that was seen; until then, and
/// where the process is not printed, that of the thread at hand, which threads inherit.
std::string_view FilteringSink::processOf(const SampleRecord& sample)
{
    if (sample.pid < 0)
        return sample.comm;
    if (sample.pid == sample.tid) {
        std::string& name = processes_[sample.pid];
        if (name != sample.comm)
            name = sample.comm;
        return name;
    }
    const auto known = processes_.find(sample.pid);
    return known == processes_.end() ? sample.comm : known->second;
}

void FilteringSink::sample(SectionHandle section, const SampleRecord& sample)
{
    const Kept kept = gate_.judge({.timeNs = sample.timeNs,
        .pid = sample.pid,
        .tid = sample.tid,
        .cpu = sample.cpu,
        .comm = sample.comm,
        .processComm = processOf(sample)});
    if (kept == Kept::Yes)
        next_.sample(section, sample);
    else
        next_.leftOut(section,
            {.samples = sample.count,
                .weight = sample.weight,
                .untold = kept == Kept::Untold ? sample.count : 0});
}

} // namespace whichlock
