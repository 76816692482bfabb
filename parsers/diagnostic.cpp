// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/diagnostic.h"

#include <array>

namespace whichlock {
namespace {

struct CodeInfo {
    std::string_view name;
    Severity severity;
    std::string_view advice;
};

constexpr CodeInfo kCodes[] = {
#define WHICHLOCK_DIAGNOSTIC(enumerator, name, severity, advice) {name, Severity::severity, advice},
#include "parsers/diagnostic_codes.def"
#undef WHICHLOCK_DIAGNOSTIC
};

const CodeInfo& infoOf(DiagnosticCode code)
{
    return kCodes[static_cast<size_t>(code)];
}

} // namespace

std::string toString(const Position& position)
{
    std::string text = position.chain;
    if (position.line != 0) {
        text += ':' + std::to_string(position.line);
        if (position.column != 0)
            text += ':' + std::to_string(position.column);
    } else if (position.offset != Position::kNoOffset) {
        text += ", offset " + std::to_string(position.offset);
    }
    return text;
}

std::string sentenceOf(const Diagnostic& diagnostic)
{
    const std::string where = toString(diagnostic.position);
    return where.empty() ? diagnostic.message : where + ": " + diagnostic.message;
}

Diagnostic makeDiagnostic(DiagnosticCode code, std::string message, Position position)
{
    return {infoOf(code).severity, code, std::move(message), std::move(position), 1};
}

std::string_view codeName(DiagnosticCode code)
{
    return infoOf(code).name;
}

std::string_view codeAdvice(DiagnosticCode code)
{
    return infoOf(code).advice;
}

std::string_view severityName(Severity severity)
{
    switch (severity) {
    case Severity::Note:
        return "note";
    case Severity::Warning:
        return "warning";
    case Severity::DataLoss:
        return "data_loss";
    case Severity::Error:
        return "error";
    }
    return "error";
}

} // namespace whichlock
