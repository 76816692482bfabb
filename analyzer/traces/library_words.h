// SPDX-License-Identifier: GPL-3.0-or-later
// The locks of the GNU C library that sleep on several words each: which of them a word belongs to follows
// from its address and from the value that the waiter expects there, never from being near.
#pragma once

#include "analyzer/traces/futex_call.h"
#include "analyzer/traces/trace_types.h"

#include <array>

namespace whichlock {

/// The side of a reader-writer lock that a waiter's word and value tell, and behind whom it waits.
enum class WordSide : uint8_t {
    None,
    ReadBehindWriter,        ///< that has the lock
    ReadBehindWaitingWriter, ///< which waits for readers that have it
    WriteBehindReaders,
    WriteBehindWriter,
};

constexpr bool isReader(WordSide side)
{
    return side == WordSide::ReadBehindWriter || side == WordSide::ReadBehindWaitingWriter;
}

/// What a word of a wait stands for.
struct LibraryWord {
    uint64_t address = 0; ///< of the lock, or of the first word of a pair; the word itself if it stands alone
    WordSide side = WordSide::None;
};

/// Where the lock that a word is part of may begin, by the word's place alone: libraryWordOf() answers with
/// one of these. 0 = none.
std::array<uint64_t, 4> possibleBegins(const FutexCall& call);

/// The lock that a wait's word is part of. `reason` is what the stack tells; with an unknown one the value
/// alone decides, and only who wakes tells later whether it was such a lock.
LibraryWord libraryWordOf(const FutexCall& call, WaitReason reason);

} // namespace whichlock
