// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/library_words.h"

#include <algorithm>

namespace whichlock {
namespace {

// glibc from 2.25 on, sysdeps/nptl/bits/struct_rwlock.h and nptl/pthread_rwlock_common.c: readers at +0,
// phase at +8, writers at +12, in a struct that is aligned to 8. The phase is that of the readers while they
// have the lock; the first writer waits for its end there, and readers for the end of the writers' one.
constexpr uint64_t kPhase = 8;
constexpr uint64_t kWriters = 12;
constexpr uint32_t kWriterAwaitsPhase = 2; // PTHREAD_RWLOCK_FUTEX_USED
constexpr uint32_t kTaken = 3;             // the same, with the word's own bit
constexpr uint32_t kReadersWait = 4;       // PTHREAD_RWLOCK_RWAITING; the count of readers lies above it

/// The first of the two words of __g_signals, which the waiters of a condition variable take in turn.
uint64_t signalsOf(uint64_t word)
{
    return word & ~uint64_t{7};
}

LibraryWord readerWriterWord(const FutexCall& call)
{
    const uint64_t place = call.word % 8;
    if (place == kWriters % 8 && call.value == kTaken && call.word >= kWriters)
        return {call.word - kWriters, WordSide::WriteBehindWriter};
    if (place != 0)
        return {call.word};
    if (call.value > kReadersWait && (call.value & kReadersWait) != 0)
        return {call.word, WordSide::ReadBehindWaitingWriter};
    if (call.word >= kPhase && (call.value == kWriterAwaitsPhase || call.value == kTaken))
        return {call.word - kPhase,
            call.value == kTaken ? WordSide::ReadBehindWriter : WordSide::WriteBehindReaders};
    return {call.word};
}

} // namespace

std::array<uint64_t, 4> possibleBegins(const FutexCall& call)
{
    if (call.action != FutexAction::WaitBitset)
        return {call.word};
    return {call.word, signalsOf(call.word), call.word - std::min(call.word, kPhase),
        call.word - std::min(call.word, kWriters)};
}

LibraryWord libraryWordOf(const FutexCall& call, WaitReason reason)
{
    if (call.action != FutexAction::WaitBitset)
        return {call.word};
    switch (reason) {
    case WaitReason::RwlockRead:
    case WaitReason::RwlockWrite:
        return readerWriterWord(call);
    case WaitReason::Condition:
        return {signalsOf(call.word)};
    case WaitReason::Unknown:
        // Waiters of a condition variable expect that nobody was signalled yet.
        return call.value == 0 ? LibraryWord{signalsOf(call.word)} : readerWriterWord(call);
    default:
        return {call.word};
    }
}

} // namespace whichlock
