// SPDX-License-Identifier: GPL-3.0-or-later
// Locks that may be behind waiting which the input cannot name. A list apart: a candidate is no answer.
#pragma once

#include "analyzer/locks/recording_context.h"

#include <string>
#include <string_view>
#include <vector>

namespace whichlock {

struct Candidate {
    std::string name;
    uint64_t score = 0; ///< strength of the evidence; not time
    std::vector<std::string> reasons;
    bool byCode = false; ///< a reason is the code of a kernel that nothing proves to be the recorded one
};

/// Collects evidence for locks. MT: one thread.
class CandidateList {
public:
    CandidateList(const RoutineTable& routines, const RecordingContext& context);

    /// A function that stands in the list with `ticks` of its own, or a spin section of a file.
    void printedFunction(std::string_view symbol, std::string_view ticks);
    /// A lock that the text around the tables names.
    void mentioned(std::string_view lock, std::string_view where);

    /// Strongest evidence first, else in the order in which it was given.
    std::vector<Candidate> take();

private:
    void takenByCode(std::string_view symbol, std::string_view ticks);
    void takenInKernels(std::string_view symbol, std::string_view ticks);
    Candidate& add(std::string_view lock, uint64_t score, std::string reason);

    const RoutineTable& routines_;
    const RecordingContext& context_;
    Context lookup_; ///< as narrow as the symbols of the profile allow
    std::vector<Candidate> candidates_;
};

} // namespace whichlock
