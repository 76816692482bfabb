// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/gzip.h"

#include <zlib.h>

namespace whichlock::test {

std::string unpacked(const std::filesystem::path& path)
{
    std::string text;
    std::string piece(1U << 16U, '\0');
    const gzFile file = gzopen(path.c_str(), "rb");
    if (file == nullptr)
        return text;
    for (int got = gzread(file, piece.data(), static_cast<unsigned>(piece.size())); got > 0;
         got = gzread(file, piece.data(), static_cast<unsigned>(piece.size())))
        text.append(piece, 0, static_cast<size_t>(got));
    gzclose(file);
    return text;
}

} // namespace whichlock::test
