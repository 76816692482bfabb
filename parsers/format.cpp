// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/format.h"

#include <array>

namespace whichlock {

#define WHICHLOCK_FORMAT(name) extern const TextFormat name##Format;
#include "parsers/formats_list.inc"
#undef WHICHLOCK_FORMAT

std::string_view confidenceName(Confidence confidence)
{
    switch (confidence) {
    case Confidence::No:
        return "no";
    case Confidence::Weak:
        return "weak";
    case Confidence::Likely:
        return "likely";
    case Confidence::Certain:
        return "certain";
    }
    return "no";
}

SectionRecord BlockContext::sectionAt(const TextLine& line, std::string_view formatName) const
{
    SectionRecord record;
    record.format = formatName;
    record.title = around.title();
    record.heading = around.heading();
    record.command = around.command();
    record.position = cursor_.positionOf(line);
    record.quoteDepth = line.quoteDepth;
    return record;
}

void BlockContext::report(
    DiagnosticCode code, std::string message, const TextLine& line, uint64_t column) const
{
    Position position = cursor_.positionOf(line);
    position.column = column;
    sink.diagnostic(makeDiagnostic(code, std::move(message), std::move(position)));
}

std::span<const TextFormat* const> textFormats()
{
    static constexpr std::array kFormats = {
#define WHICHLOCK_FORMAT(name) &name##Format,
#include "parsers/formats_list.inc"
#undef WHICHLOCK_FORMAT
    };
    return kFormats;
}

} // namespace whichlock
