// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>

namespace whichlock::test {

/// The content of a gzip file; empty if it cannot be read.
std::string unpacked(const std::filesystem::path& path);

} // namespace whichlock::test
