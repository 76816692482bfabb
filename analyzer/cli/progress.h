// SPDX-License-Identifier: GPL-3.0-or-later
// One line on a terminal for anything that takes more than a second.
#pragma once

#include "parsers/input/source.h"

#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

namespace whichlock::cli {

/// Shows what is being done, once that takes more than a second. A thread of its own prints, so that steps
/// that tell nothing in between are shown as well. MT: locked inside.
class Progress {
public:
    /// Shows progress on `stream` if that is a terminal.
    explicit Progress(std::FILE* stream);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Tells how much of the source was read, whenever some of it was.
    void watch(Source& source);
    /// What is being done from now on: `naming 1200 addresses`.
    void step(const std::string& what);
    /// Wipes the line; nothing is shown any more.
    void finish();

private:
    void run();

    std::FILE* stream_;
    std::thread printer_; ///< runs only where there is a terminal
    std::mutex mutex_;    ///< of all below
    std::condition_variable changed_;
    std::string what_;
    bool finished_ = false;
};

} // namespace whichlock::cli
