// SPDX-License-Identifier: GPL-3.0-or-later
// What can go wrong with an input, told in one shape: severity, code, sentence, position, count.
// All codes with their severity and advice stand in diagnostic_codes.def, the list a user may look up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace whichlock {

/// How much a diagnostic matters: `DataLoss` and `Error` change the exit code, the others do not.
enum class Severity : uint8_t { Note, Warning, DataLoss, Error };

enum class DiagnosticCode : uint8_t {
#define WHICHLOCK_DIAGNOSTIC(name, text, severity, advice) name,
#include "parsers/diagnostic_codes.def"
#undef WHICHLOCK_DIAGNOSTIC
};

/// Where in an input something is. Zero lines and columns mean "not known"; both count from one.
struct Position {
    static constexpr uint64_t kNoOffset = UINT64_MAX;

    std::string chain{}; ///< input and containers, outermost first: `list.mbox > message 1412`
    uint64_t line = 0;
    uint64_t column = 0;
    uint64_t offset = kNoOffset; ///< bytes from the start of the innermost container

    bool operator==(const Position&) const = default;
    auto operator<=>(const Position&) const = default;
};

/// `mail.txt:41`, `perf.data, offset 4711`, or only the name.
std::string toString(const Position& position);

struct Diagnostic {
    Severity severity = Severity::Note;
    DiagnosticCode code{};
    std::string message; ///< what was found, skipped and kept, in a sentence
    Position position;   ///< of the first occurrence
    uint64_t count = 1;  ///< occurrences of the same code in the same container
};

/// `mail.txt:41: the row was skipped`; only the sentence where no position is known.
std::string sentenceOf(const Diagnostic& diagnostic);

/// A diagnostic with the severity that the list of codes gives it.
Diagnostic makeDiagnostic(DiagnosticCode code, std::string message, Position position = {});

/// The kebab-case name of a code as it stands in reports: `line-too-long`.
std::string_view codeName(DiagnosticCode code);
/// What a user can do about it; empty where nothing needs doing.
std::string_view codeAdvice(DiagnosticCode code);
std::string_view severityName(Severity severity);

} // namespace whichlock
