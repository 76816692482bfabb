// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/futex_call.h"

namespace whichlock {
namespace {

// linux/futex.h
constexpr uint64_t kPrivate = 128;
constexpr uint64_t kCommandMask = 127;

FutexAction actionOf(uint64_t command)
{
    switch (command) {
    case 0:
        return FutexAction::Wait;
    case 1:
    case 10: // WAKE_BITSET
        return FutexAction::Wake;
    case 3:  // REQUEUE
    case 4:  // CMP_REQUEUE
    case 12: // CMP_REQUEUE_PI
        return FutexAction::Requeue;
    case 5:
        return FutexAction::WakeTwo;
    case 6:
    case 13: // LOCK_PI2
        return FutexAction::LockPi;
    case 7:
        return FutexAction::UnlockPi;
    case 9:
        return FutexAction::WaitBitset;
    case 11:
        return FutexAction::WaitRequeuePi;
    default: // FD, TRYLOCK_PI and what is not known
        return FutexAction::None;
    }
}

} // namespace

FutexCall decodeFutexCall(
    uint64_t word, uint64_t operation, uint64_t value, uint64_t timeoutOrCount, uint64_t secondWord)
{
    FutexCall call;
    call.action = actionOf(operation & kCommandMask);
    call.shared = (operation & kPrivate) == 0;
    call.word = word;
    call.value = static_cast<uint32_t>(value);
    if (call.action == FutexAction::WakeTwo || call.action == FutexAction::Requeue
        || call.action == FutexAction::WaitRequeuePi)
        call.secondWord = secondWord;
    if (call.action == FutexAction::Requeue)
        call.moveCount = static_cast<uint32_t>(timeoutOrCount);
    return call;
}

} // namespace whichlock
