// SPDX-License-Identifier: GPL-3.0-or-later
// Where locks of the C library may begin, by one of their words.
#include "analyzer/traces/library_words.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

TEST(LibraryWords, possibleBeginsHaveEveryAnswer)
{
    constexpr std::array kActions = {FutexAction::Wait, FutexAction::WaitBitset, FutexAction::LockPi};
    for (const FutexAction action : kActions) {
        for (uint64_t word = 0; word < 64; word += 4) {
            for (uint32_t value = 0; value < 24; ++value) {
                for (int reason = 0; reason <= static_cast<int>(WaitReason::GracePeriod); ++reason) {
                    const FutexCall call{.action = action, .word = word, .value = value};
                    const uint64_t begin = libraryWordOf(call, static_cast<WaitReason>(reason)).address;
                    const auto begins = possibleBegins(call);
                    EXPECT_NE(std::find(begins.begin(), begins.end(), begin), begins.end())
                        << word << ' ' << value << ' ' << reason;
                }
            }
        }
    }
}

TEST(LibraryWords, ofAMutexStandAlone)
{
    const std::array<uint64_t, 4> begins = possibleBegins({.action = FutexAction::Wait, .word = 0x500c});
    EXPECT_EQ(begins, (std::array<uint64_t, 4>{0x500c, 0, 0, 0}));
}

} // namespace
} // namespace whichlock::test
