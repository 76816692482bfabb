// SPDX-License-Identifier: GPL-3.0-or-later
// Work that fights for locks, to be recorded: in a process of its own, until it is killed.
#pragma once

#include <string_view>

namespace whichlock::bench {

/// `files`: processes that create and remove files of one folder and map memory in threads. `threads`:
/// threads that fight for mutexes and put each other to sleep. Never returns but for an unknown kind.
void runLockWorkload(std::string_view kind);

} // namespace whichlock::bench
