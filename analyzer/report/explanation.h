// SPDX-License-Identifier: GPL-3.0-or-later
// All that the name of one lock rests on, for people who want to check it.
#pragma once

#include "analyzer/naming/evidence_log.h"
#include "analyzer/report/report.h"

namespace whichlock {

/// The row of a report that is explained.
struct ExplainedRow {
    size_t section = 0; ///< from one
    uint32_t id = 0;    ///< in the section, from one
    std::string title{};
    std::string name{};
    std::string lockClass{};
    std::string expression{};
    Rung rung = Rung::Unnamed;
    std::string kind{};
    std::string basis{};
    std::optional<bool> verified{};
    std::optional<uint64_t> address{}; ///< of locks of traces
    uint64_t value = 0;                ///< in the section's unit
    std::string unit{};
    Share ofLock{};                   ///< of all waiting for locks in the section
    std::string arch{};               ///< of the recorded machine, where it is known
    std::vector<std::string> sites{}; ///< where it is taken, heaviest first
};

struct LockExplanation {
    std::vector<std::string> inputs{};
    std::optional<ExplainedRow> row{}; ///< nothing where code was asked, not a profile
    std::vector<CallEvidence> calls{};
    size_t callsLeftOut = 0; ///< further calls that take it
    std::vector<VariableEvidence> variables{};
    std::vector<Diagnostic> refusals{}; ///< files that may not be used, or whose names nothing proves
};

/// Chooses by the number of a row (`2`, or `3:2` in the third section), its name, or a part of it that only
/// one has. The error is a sentence for the user, with what there is.
tl::expected<LockExplanation, std::string> explainLock(
    const Report& report, const EvidenceLog& log, std::string_view which);

/// What the rung claims, as a sentence.
std::string_view rungMeaning(Rung rung);
/// Which rungs names of locks may have in recordings of a processor, as a sentence.
std::string_view rungsOf(std::string_view arch);

std::string renderExplanation(const LockExplanation& explanation);
std::string renderExplanationJson(const LockExplanation& explanation);

} // namespace whichlock
