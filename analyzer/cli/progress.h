// SPDX-License-Identifier: GPL-3.0-or-later
// One line on a terminal for anything that takes more than a second.
#pragma once

#include "parsers/input/source.h"

#include <chrono>
#include <cstdio>

namespace whichlock::cli {

/// MT: one thread.
class Progress {
public:
    /// Shows progress on `stream` if that is a terminal.
    explicit Progress(std::FILE* stream);

    void watch(Source& source);
    /// Wipes the line.
    void finish();

private:
    void show(const std::string& name, uint64_t done, uint64_t total);

    using Clock = std::chrono::steady_clock;
    std::FILE* stream_;
    bool enabled_ = false;
    bool shown_ = false;
    Clock::time_point next_;
};

} // namespace whichlock::cli
