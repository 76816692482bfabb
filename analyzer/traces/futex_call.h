// SPDX-License-Identifier: GPL-3.0-or-later
// The operations of the futex system calls, told apart.
#pragma once

#include <cstdint>

namespace whichlock {

enum class FutexAction : uint8_t {
    None, ///< neither waits nor wakes
    Wait,
    WaitBitset, ///< what glibc uses for all but its mutexes
    WaitMany,   ///< futex_waitv: the words are not in the event
    LockPi,
    WaitRequeuePi, ///< a condition wait that ends at a mutex with priority inheritance
    Wake,
    WakeTwo, ///< wakes at two words (FUTEX_WAKE_OP)
    Requeue, ///< wakes some and moves the rest to another word
    UnlockPi,
};

constexpr bool isFutexWait(FutexAction action)
{
    return action >= FutexAction::Wait && action <= FutexAction::WaitRequeuePi;
}

/// One call, as it was entered.
struct FutexCall {
    FutexAction action = FutexAction::None;
    bool shared = false; ///< across processes; also what the kernel uses to tell that a thread ended
    uint64_t word = 0;
    uint64_t secondWord = 0; ///< of WakeTwo, Requeue, WaitRequeuePi
    uint32_t value = 0;      ///< of a wait: what the word must hold; else how many to wake at most
    uint32_t moveCount = 0;  ///< of Requeue: how many to move at most
};

/// The arguments of sys_futex: word, operation, value, timeout or count, second word.
FutexCall decodeFutexCall(
    uint64_t word, uint64_t operation, uint64_t value, uint64_t timeoutOrCount, uint64_t secondWord);

} // namespace whichlock
