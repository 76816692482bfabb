// SPDX-License-Identifier: GPL-3.0-or-later
// What is said about the code of a kernel that was given for texts, and candidates of the right era.
#include "analyzer/locks/lock_use.h"
#include "analyzer/report/report.h"
#include "tests/support/profiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace whichlock::test {
namespace {

/// What a kernel is said to take.
class OneLock final : public LockUse {
public:
    explicit OneLock(std::string version)
        : version_(std::move(version))
    {
    }
    std::vector<TakenLock> of(std::string_view function) const override
    {
        return function == "iget" ? std::vector<TakenLock>{{"struct inode::i_lock", "", 1}}
                                  : std::vector<TakenLock>{};
    }
    std::string version() const override { return version_; }
    std::string source() const override { return "vmlinux"; }

private:
    std::string version_;
};

/// What is said of the code of a kernel, by the code of the diagnostic; empty if nothing is.
std::string saidOf(const std::string& codeVersion, const ProfileContext& context, size_t candidates)
{
    const Profile profile =
        flatProfile({"_raw_spin_lock 50", "native_queued_spin_lock_slowpath 300", "iget 80"}, context);
    const RoutineTable routines = RoutineTable::builtIn().withLockUse(std::make_shared<OneLock>(codeVersion));
    const Report report = buildReport(profile, {}, routines);
    EXPECT_EQ(std::ranges::count_if(report.sections.at(0).candidates, &Candidate::byCode), candidates);
    std::string said;
    for (const Diagnostic& one : report.diagnostics)
        said += std::string(codeName(one.code)) + ": " + one.message + "\n";
    return said;
}

TEST(KernelCode, isRefusedWithTheReasonWhereTheTextTellsAnotherKernel)
{
    const std::string said = saidOf("6.1.0", {.inputFacts = {{FactKind::Kernel, "5.4.12"}}}, 0);
    EXPECT_TRUE(said.starts_with("kernel-mismatch: vmlinux (Linux 6.1.0)")) << said;
    EXPECT_NE(said.find("5.4.12"), std::string::npos) << said;
}

TEST(KernelCode, isUsedUnverifiedWhereTheTextTellsNoKernel)
{
    const std::string said = saidOf("6.1.0", {}, 1);
    EXPECT_TRUE(said.starts_with("symbols-unverified: candidates of a profile that does not tell its kernel"))
        << said;
    EXPECT_NE(saidOf("", {}, 1).find("it does not tell its version"), std::string::npos);
    const std::string same = saidOf("6.1.0", {.inputFacts = {{FactKind::Kernel, "6.1.55"}}}, 1);
    EXPECT_TRUE(same.starts_with("symbols-unverified: candidates of a profile of Linux 6.1.55")) << same;
}

TEST(Candidates, areNotOfKernelsThatLackedTheSlowPath)
{
    // dcache_lock, files_lock and runqueue_lock were gone when queued spin locks came.
    for (const char* slow : {"native_queued_spin_lock_slowpath 500", "queued_spin_lock_slowpath 500"}) {
        const Profile profile = flatProfile({slow, "fput 40", "dput 30", "file_move 20", "schedule 10"});
        const Report report = buildReport(profile, {}, RoutineTable::builtIn());
        for (const Candidate& candidate : report.sections.at(0).candidates)
            ADD_FAILURE() << slow << ": " << candidate.name;
    }
    // Without it, or with the one of an older kernel, they are what comes into question.
    const Report old =
        buildReport(flatProfile({"__ticket_spin_lock 500", "file_move 20"}), {}, RoutineTable::builtIn());
    EXPECT_TRUE(std::ranges::any_of(
        old.sections.at(0).candidates, [](const Candidate& one) { return one.name == "files_lock"; }));
}

} // namespace
} // namespace whichlock::test
