// SPDX-License-Identifier: GPL-3.0-or-later
// The one fuzz target, built once a format with WHICHLOCK_FUZZ_FORMAT set to its name, and once with "" for
// all formats together.
#include "tests/support/piece_check.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (!whichlock::test::readsAlikeInPieces(text, WHICHLOCK_FUZZ_FORMAT))
        std::abort(); // the way in which a fuzzer is told
    return 0;
}
