// SPDX-License-Identifier: GPL-3.0-or-later
// What the call sites of one lock say together.
#include "analyzer/traces/called_lock.h"

#include <gtest/gtest.h>

namespace whichlock {
namespace {

TracedCall call(const char* lock, const char* kind = "mutex", bool verified = true)
{
    return {.lock = lock, .expression = std::string(lock) + " here", .kind = kind, .verified = verified};
}

TEST(CalledLock, isWhatAllSitesLeavePossible)
{
    CalledLockNames names(LockKind::UserMutex);
    names.add(call("Pool::mu or Shard::mu"), 900);
    names.add(call("Shard::mu"), 100);
    EXPECT_EQ(names.common().lock, "Shard::mu");
    EXPECT_EQ(names.common().expression, "Pool::mu or Shard::mu here") << "of the heaviest site";
}

TEST(CalledLock, isEitherWhereSitesContradictEachOther)
{
    CalledLockNames names(LockKind::UserMutex);
    names.add(call("Shard::mu"), 100);
    names.add(call("Account::mu", "mutex", false), 900);
    EXPECT_EQ(names.common().lock, "Account::mu or Shard::mu");
    EXPECT_FALSE(names.common().verified);
    names.add(call("C::mu"), 1);
    names.add(call("D::mu"), 1);
    EXPECT_EQ(names.common().lock, "") << "that many say nothing";
}

TEST(CalledLock, isNoneOfAnotherKind)
{
    // The spinlock inside of a semaphore is waited for below the call that takes the semaphore.
    CalledLockNames names(LockKind::SpinLock);
    names.add(call("struct inode::i_rwsem", "rwsem"), 100);
    EXPECT_EQ(names.common().lock, "");
    CalledLockNames parker(LockKind::Parker);
    parker.add(call("Book::mu"), 1);
    EXPECT_EQ(parker.common().lock, "Book::mu");
}

} // namespace
} // namespace whichlock
