// SPDX-License-Identifier: GPL-3.0-or-later
// Names of locks in tables of lock tools that only print where a lock is taken.
#include "tests/support/reported.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

/// The row of a table for one place; an empty object if there is none.
Json rowAt(const std::string& text, const std::string& place)
{
    for (const Json& row : reportOfTexts({{"table.txt", text}}).lockRows())
        for (const Json& site : row.at("sites"))
            if (site.at("name") == place)
                return row;
    return Json::object();
}

const std::string kContention =
    " contended   total wait     max wait     avg wait         type   caller\n\n"
    "        14     27.49 us      4.16 us      1.96 us     spinlock   raw_spin_rq_lock_nested+0x1b\n"
    "        10     20.00 us      4.00 us      2.00 us     spinlock   alloc_fd+0x4c\n"
    "         8     16.00 us      4.00 us      2.00 us      rwsem:W   vm_mmap_pgoff+0xbc\n"
    "         6     12.00 us      4.00 us      2.00 us        mutex   vm_mmap_pgoff+0x99\n"
    "         5     10.00 us      4.00 us      2.00 us     spinlock   no_such_function_at_all+0x10\n";

TEST(LockTableNames, comeFromTheTableOfKnownKernels)
{
    const Json queue = rowAt(kContention, "raw_spin_rq_lock_nested+0x1b");
    EXPECT_EQ(queue.value("name", ""), "struct rq::__lock");
    EXPECT_EQ(queue.value("rung", ""), "table");
    EXPECT_NE(queue.value("basis", "").find("the kernel is not known"), std::string::npos) << queue;
    EXPECT_EQ(rowAt(kContention, "alloc_fd+0x4c").value("name", ""), "struct files_struct::file_lock");
    // The events behind such a table exist since 5.19: what 4.19 called mmap_sem does not count.
    EXPECT_EQ(rowAt(kContention, "vm_mmap_pgoff+0xbc").value("name", ""), "struct mm_struct::mmap_lock");
}

TEST(LockTableNames, sayTheKernelWhereTheTextTellsIt)
{
    const Json row = rowAt("On Linux 6.1.55 this is what we see:\n\n" + kContention, "alloc_fd+0x4c");
    EXPECT_EQ(row.value("name", ""), "struct files_struct::file_lock");
    EXPECT_EQ(row.value("basis", ""), "table, 6.1");
}

TEST(LockTableNames, areNotGivenToOtherKindsOrUnknownFunctions)
{
    const Json mutex = rowAt(kContention, "vm_mmap_pgoff+0x99");
    EXPECT_EQ(mutex.value("rung", ""), "call-site") << "that function takes a semaphore, no mutex";
    EXPECT_EQ(mutex.value("name", ""), "lock taken at vm_mmap_pgoff+0x99");
    EXPECT_EQ(rowAt(kContention, "no_such_function_at_all+0x10").value("rung", ""), "call-site");
}

TEST(LockTableNames, ofToolsWithoutKindsAreOfLocksThatSleep)
{
    const std::string text =
        "                                  Caller   Avg Spin  Count   Max spin Total spin\n"
        "                      psi_avgs_work+0x2e       3675      5       5468      18379\n"
        "                           alloc_fd+0x22       2833      2       4210       5667\n";
    EXPECT_EQ(rowAt(text, "psi_avgs_work+0x2e").value("name", ""), "struct psi_group::avgs_lock");
    EXPECT_EQ(rowAt(text, "alloc_fd+0x22").value("rung", ""), "call-site") << "that one takes a spin lock";
}

TEST(LockTableNames, ofAToolThatNamesVariablesAreMembersOnly)
{
    for (const Json& row : reportOfSample({"lockmeter/rejects/input.txt"}).lockRows()) {
        if (row.at("rung") != "table")
            continue;
        const std::string name = row.at("name");
        EXPECT_TRUE(name.find("::") != std::string::npos || name.find("->") != std::string::npos) << name;
    }
}

} // namespace
} // namespace whichlock::test
