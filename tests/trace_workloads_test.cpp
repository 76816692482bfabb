// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of the workload programs against what each program measured in that very run: waits, where they are,
// behind whom, and of which pattern they are.
#include "tests/support/workloads.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

namespace whichlock::test {
namespace {

using Json = nlohmann::json;
using Shares = std::map<std::string, double>; ///< percent by name
using Names = std::set<std::string>;

const LockTraceRecord* traceOf(const Profile& profile)
{
    for (const Section& section : profile.sections) {
        if (section.trace)
            return &*section.trace;
    }
    return nullptr;
}

/// `consume (again)` and `readTable shared` are labels of the programs for functions.
std::string functionOf(const std::string& label)
{
    return label.substr(0, label.find(' '));
}

/// The threads by the functions that hold a lock in them: chains by frame pointers may not have the
/// functions.
std::string threadOf(const std::string& program, const std::string& function)
{
    static const std::map<std::string, std::string> kThreads = {{"askQuota", "waiter"},
        {"spendQuota", "limited"}, {"copyArchive", "archive"}, {"readArchive", "clerk"}, {"settle", "clerk"},
        {"look", "desk"}, {"runBytecode", "bytecode"}, {"finishIo", "io"}, {"produce", "producer"},
        {"consume", "consumer"}, {"openGate", "shepherd"}, {"waitForGeneration", "sheep"},
        {"updateState", "holder"}, {"readState", "waiter"}, {"lookUp", "reader"}, {"rewriteIndex", "writer"},
        {"fetch", "fetch"}, {"refill", "refill"}, {"readTable", "reader"}, {"writeTable", "writer"},
        {"insertInto", "inserter"}, {"count", "counter"}, {"commit", "committer"}, {"insertRow", "inserter"},
        {"scanRows", "scanner"}, {"askCache", "asker"}, {"rebuildCache", "rebuilder"}};
    if (program == "io_under_lock" && function == "look")
        return "looker";
    const auto at = kThreads.find(function);
    return at == kThreads.end() ? function : at->second;
}

Shares inPercent(const std::map<std::string, uint64_t>& sums)
{
    double all = 0;
    for (const auto& [name, ns] : sums)
        all += static_cast<double>(ns);
    Shares shares;
    for (const auto& [name, ns] : sums)
        shares[name] = 100 * static_cast<double>(ns) / all;
    return shares;
}

double shareOf(const Shares& shares, const std::string& name)
{
    const auto at = shares.find(name);
    return at == shares.end() ? 0 : at->second;
}

const TracedLock* lockOf(const LockTraceRecord& trace, const Json& measured)
{
    const std::string text = measured.at("address");
    const uint64_t address = text == "(nil)" ? 0 : std::stoull(text, nullptr, 16);
    for (const TracedLock& lock : trace.locks) {
        // The arena's own mutex and words in shared memory have no address that the program knows.
        const bool here = address == 0 || lock.space == "shared" || lock.address == address
            || (lock.kind == "condition-lock" && lock.address > address && lock.address < address + 128);
        if (lock.isLock && here)
            return &lock;
    }
    return nullptr;
}

/// One of the recordings, with what is known of it besides its truth.
struct TracedWorkload {
    const char* name = nullptr;
    /// Allowed difference of the waits, in percent; what is shorter than a system call is not in the trace.
    double percent = 1;
    bool holders = true; ///< their shares are compared
};

// The programs take the broadcast for the begin of a wait for the mutex of a condition: a waiter that has not
// run yet waits for a processor. Their holders' shares are of those longer waits.
constexpr TracedWorkload kTraced[] = {
    {"cfs-throttled-futex"},
    {"chain-of-three-futex"},
    {"chain-of-three-futex-dwarf"},
    {"condvar-lock-futex-dwarf"},
    {"convoy-condvar-futex", 40, false},
    {"deadlock-cut-short-futex", 1, false}, // who has the locks took them without waiting
    {"deadlock-probes", 1},
    {"herd-futex", 40, false},
    {"hog-preempts-holder-futex"},
    {"io-under-lock-futex"},
    {"mutex-two-sites-futex"},
    {"mutex-two-sites-futex-dwarf"},
    {"mutex-two-sites-probes"},
    {"mutex-two-sites-sdt"},
    {"parker-futex"},
    {"parker-futex-dwarf"},
    {"priority-inversion-futex"},
    {"rw-readers-first-futex"},
    {"rw-writers-first-futex"},
    {"sharded-heap-mutexes-futex"},
    {"shared-mutex-futex"},
    {"sleepers-futex"},
    {"trylock-poll-probes"},
};

void PrintTo(const TracedWorkload& one, std::ostream* out)
{
    *out << one.name;
}

std::string caseName(const testing::TestParamInfo<TracedWorkload>& info)
{
    std::string name = info.param.name;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

class TraceWorkloads : public testing::TestWithParam<TracedWorkload> {
protected:
    void SetUp() override
    {
        const Workload workload = workloadOf(GetParam().name);
        ASSERT_EQ(workload.name, GetParam().name);
        truth = truthOf(workload);
        profile = profileOf(workload);
        ASSERT_NE(traceOf(profile), nullptr);
        EXPECT_EQ(traceOf(profile)->problem, "");
    }

    /// Locks that the program waited for long enough to compare shares.
    template <class Check> void forEachWaitedLock(Check check)
    {
        size_t checked = 0;
        for (const Json& measured : truth.at("locks")) {
            const auto waitNs = measured.at("wait_ns").get<double>();
            if (waitNs < 300e3)
                continue;
            SCOPED_TRACE(measured.at("name").get<std::string>());
            const TracedLock* lock = lockOf(*traceOf(profile), measured);
            ASSERT_NE(lock, nullptr);
            check(measured, *lock);
            ++checked;
        }
        EXPECT_GT(checked, 0U);
    }

    Json truth;
    Profile profile;
};

INSTANTIATE_TEST_SUITE_P(Recordings, TraceWorkloads, testing::ValuesIn(kTraced), caseName);

TEST_P(TraceWorkloads, haveTheWaitsThatTheProgramMeasured)
{
    forEachWaitedLock([&](const Json& measured, const TracedLock& lock) {
        constexpr double kUnseenNs = 20e3; // of each: asking, the system call, coming back
        const auto waitNs = measured.at("wait_ns").get<double>();
        const double allowed =
            waitNs * GetParam().percent / 100 + kUnseenNs * measured.at("contended").get<double>();
        EXPECT_NEAR(static_cast<double>(lock.valueNs), waitNs, allowed);
        EXPECT_EQ(lock.openAtEnd, measured.value("still_waiting", 0U));
    });
}

TEST_P(TraceWorkloads, haveThemWhereTheProgramWaited)
{
    forEachWaitedLock([&](const Json& measured, const TracedLock& lock) {
        std::map<std::string, uint64_t> asked;
        for (const Json& site : measured.at("sites"))
            asked[functionOf(site.at("site"))] += site.at("wait_ns").get<uint64_t>();
        std::map<std::string, uint64_t> found;
        uint64_t unnamedNs = 0;
        for (const TracedSite& site : lock.sites) {
            if (asked.contains(site.at.function))
                found[site.at.function] += site.valueNs;
            else
                unnamedNs += site.valueNs;
        }
        // Chains by frame pointers may lack the function. None may be named in its place.
        const bool wholeStacks = std::string(GetParam().name).ends_with("-dwarf");
        if (wholeStacks || unnamedNs == 0) {
            EXPECT_EQ(unnamedNs, 0U);
            for (const auto& [site, share] : inPercent(asked))
                EXPECT_NEAR(shareOf(inPercent(found), site), share, 1) << site;
        }
    });
}

TEST_P(TraceWorkloads, haveThemBehindThoseWhoHadTheLock)
{
    if (!GetParam().holders)
        return;
    forEachWaitedLock([&](const Json& measured, const TracedLock& lock) {
        std::map<std::string, uint64_t> held;
        for (const auto& item : measured.at("waits_held_by").items()) {
            if (!item.key().empty())
                held[threadOf(truth.at("program"), functionOf(item.key()))] += item.value().get<uint64_t>();
        }
        std::map<std::string, uint64_t> found;
        uint64_t foundNs = 0;
        for (const TracedHolder& holder : lock.holders) {
            found[holder.thread] += holder.waitNs;
            foundNs += holder.waitNs;
        }
        uint64_t heldNs = 0;
        for (const auto& [thread, ns] : held)
            heldNs += ns;
        EXPECT_LE(foundNs, heldNs + lock.valueNs / 50);
        // Who takes a lock before the thread that was woken for it, and gives it back unasked, is not seen:
        // that time counts as hand-off.
        if (foundNs < heldNs - heldNs / 5)
            return;
        const Shares right = inPercent(held);
        for (const auto& [thread, share] : right) {
            EXPECT_NEAR(shareOf(inPercent(found), thread), share, 7) << thread;
            for (const auto& [other, otherShare] : right) {
                if (share > otherShare + 7) {
                    EXPECT_GT(found[thread], found[other]) << thread << ' ' << other;
                }
            }
        }
    });
}

} // namespace
} // namespace whichlock::test
