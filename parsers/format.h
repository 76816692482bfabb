// SPDX-License-Identifier: GPL-3.0-or-later
// What a text format is to the reading frame: a name, a pure look at the lines ahead, and a reader.
// Adding a format: one file in parsers/formats, its name in parsers/CMakeLists.txt, one testdata folder.
#pragma once

#include "parsers/input/text_cursor.h"
#include "parsers/record.h"
#include "parsers/surroundings.h"

#include <span>
#include <string_view>

namespace whichlock {

/// How sure a format is that a block of its kind begins at a line.
enum class Confidence : uint8_t { No, Weak, Likely, Certain };

std::string_view confidenceName(Confidence confidence);

/// The answer to "does a block of yours begin here?".
struct Claim {
    Confidence confidence = Confidence::No;
    std::string_view why; ///< the signature that was seen; a literal
};

/// What a reader is given beside the cursor.
class BlockContext {
public:
    BlockContext(RecordSink& recordSink, const Surroundings& textAround, DocumentMemory& documentMemory,
        const TextCursor& textCursor)
        : sink(recordSink)
        , around(textAround)
        , memory(documentMemory)
        , cursor_(textCursor)
    {
    }

    RecordSink& sink;
    const Surroundings& around;
    DocumentMemory& memory;

    /// A section that begins at `line`, with title, heading, command and position filled in.
    SectionRecord sectionAt(const TextLine& line, std::string_view formatName) const;
    /// Reports a diagnostic at `line` of this input.
    void report(DiagnosticCode code, std::string message, const TextLine& line, uint64_t column = 0) const;

private:
    const TextCursor& cursor_;
};

/// What the blocks of a format hold.
enum class Yields : uint8_t {
    Profiles, ///< an input with profiles is named after them
    Tables,   ///< counters, benchmark tables
    Scores,   ///< single lines, which speak of the table below them as a caption does
};

/// A format whose blocks are found in texts, pure or inside prose.
struct TextFormat {
    std::string_view name;
    std::string_view description;
    /// Looks at the lines ahead without moving. Bounded: at most some hundred lines.
    Claim (*claim)(TextCursor& cursor);
    /// Reads the claimed block; advances past at least one line and stops before the first foreign one.
    void (*read)(TextCursor& cursor, BlockContext& context);
    Yields yields = Yields::Tables;
};

/// All text formats, in the order of parsers/CMakeLists.txt.
std::span<const TextFormat* const> textFormats();

} // namespace whichlock
