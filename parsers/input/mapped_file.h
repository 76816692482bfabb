// SPDX-License-Identifier: GPL-3.0-or-later
// A file mapped into memory for reading.
#pragma once

#include "parsers/result.h"

#include <string>
#include <string_view>

namespace whichlock {

/// Owns the mapping. A file that shrinks while it is mapped raises SIGBUS, as it does for every reader that
/// maps. MT: safe once it is open.
class MappedFile {
public:
    /// Maps a regular file; anything else is an Error. An empty file gives empty bytes.
    static Result<MappedFile> open(const std::string& path);

    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile();

    std::string_view bytes() const { return {data_, size_}; }

private:
    MappedFile() = default;

    const char* data_ = nullptr;
    size_t size_ = 0;
};

/// These bytes, mapped or not, are about to be read front to back: has the system bring all pages in at once.
void willRead(std::string_view bytes);

} // namespace whichlock
