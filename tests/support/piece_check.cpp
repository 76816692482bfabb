// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/piece_check.h"

#include "tests/support/record_dump.h"

namespace whichlock::test {

bool readsAlikeInPieces(std::string_view text, std::string_view format)
{
    constexpr size_t kSmallPieces = 13;
    const LoadOptions options{.onlyFormat = std::string(format)};
    RecordingSink whole;
    const LoadedInput loaded = loadText(text, whole, SIZE_MAX, options);
    RecordingSink pieces;
    const LoadedInput loadedInPieces = loadText(text, pieces, kSmallPieces, options);
    bool known = format.empty();
    for (const TextFormat* each : textFormats())
        known = known || each->name == format;
    return known && dumpEverything(whole, loaded) == dumpEverything(pieces, loadedInPieces);
}

} // namespace whichlock::test
