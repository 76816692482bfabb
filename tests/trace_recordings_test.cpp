// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings beside the source tree, where there are any: waits by address against what an independent reader
// of the records found, shares of sites and holders against what the workloads measured themselves.
#include "tests/support/recorded_trace.h"

#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace whichlock::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path kRecordings = WHICHLOCK_RECORDINGS;

Json jsonOf(const fs::path& path)
{
    std::ifstream in(path);
    return in ? Json::parse(in) : Json();
}

uint64_t addressOf(const std::string& text)
{
    return std::stoull(text, nullptr, 16);
}

void checkWaits(const Json& expected, const std::optional<TraceWord>& word, const std::string& address)
{
    SCOPED_TRACE(address);
    ASSERT_TRUE(word.has_value());
    EXPECT_EQ(word->waits, expected.at("n").get<uint64_t>());
    EXPECT_EQ(word->waitNs, expected.at("ns").get<uint64_t>());
    EXPECT_EQ(word->maxNs, expected.at("max").get<uint64_t>());
}

/// Words and kernel locks that were waited for, each for itself.
size_t waitedWords(const RecordedTrace& trace)
{
    size_t count = 0;
    for (const TraceLock& lock : trace.analysis.locks) {
        if (lock.key.space != LockSpace::Kernel && lock.waits > 0)
            count += std::max<size_t>(1, lock.words.size());
    }
    return count;
}

TEST(TraceRecordings, haveTheWaitsThatAnIndependentReaderFound)
{
    if (!fs::is_directory(kRecordings))
        GTEST_SKIP() << "no recordings beside the source tree";
    size_t checked = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(kRecordings)) {
        const std::string file = entry.path().filename().string();
        if (!file.ends_with(".expect.json"))
            continue;
        const std::string name = file.substr(0, file.size() - 12);
        const Json expected = jsonOf(entry.path());
        if (!expected.contains("futex_waits_by_uaddr"))
            continue; // killed and truncated ones have no formats
        SCOPED_TRACE(name);
        const RecordedTrace trace = readTrace(kRecordings, name);
        EXPECT_EQ(trace.analysis.check(), "");
        for (const auto& [address, waits] : expected.at("futex_waits_by_uaddr").items())
            checkWaits(waits, trace.userWord(addressOf(address)), address);
        for (const auto& [address, waits] : expected.at("kernel_contention_by_lock").items())
            checkWaits(waits, wordOf(trace.kernel(addressOf(address))), address);
        if (name != "a.rawsys-fp" && name != "x.uprobe-a_mutex") { // the reader knew neither
            EXPECT_EQ(waitedWords(trace), expected.at("futex_waits_by_uaddr").size());
        }
        uint64_t unmatched = 0;
        for (const auto& [what, count] : expected.at("unmatched").items())
            unmatched += what.starts_with("futex exit") ? count.get<uint64_t>() : 0;
        EXPECT_EQ(trace.analysis.gaps.endsWithoutBegin, unmatched);
        ++checked;
    }
    EXPECT_GE(checked, 40U);
}

TEST(TraceRecordings, chargeKernelWaitsToTheCallersThatAnIndependentReaderFound)
{
    if (!fs::is_directory(kRecordings))
        GTEST_SKIP() << "no recordings beside the source tree";
    for (const char* name : {"g.dir.con-fp", "g.dir.consched-fp", "g.files.con-fp", "g.mmap.con-fp",
             "g.pipe.con-fp", "g.rename.con-fp", "a.multi", "a.contention-fp"}) {
        SCOPED_TRACE(name);
        const RecordedTrace trace = readTrace(kRecordings, name);
        const Json expected = jsonOf(kRecordings / (std::string(name) + ".expect.json"));
        for (const auto& [address, waits] : expected.at("kernel_contention_by_lock").items()) {
            SCOPED_TRACE(address);
            const TraceLock* lock = trace.kernel(addressOf(address));
            ASSERT_NE(lock, nullptr);
            EXPECT_TRUE(lock->isLock);
            std::map<std::string, std::pair<uint64_t, uint64_t>> callers;
            for (const uint32_t row : lock->sites) {
                const TraceSite& site = trace.analysis.sites[row];
                auto& caller = callers[trace.siteOf(site.stack)];
                caller.first += site.waits;
                caller.second += site.waitNs;
            }
            Json found = Json::object();
            for (const auto& [caller, sums] : callers)
                found[caller] = {sums.first, sums.second};
            // The run queue's lock is taken in wrappers, which the independent reader took for callers.
            if (!waits.at("callers").contains("__task_rq_lock")
                && !waits.at("callers").contains("raw_spin_rq_lock_nested")) {
                EXPECT_EQ(found, waits.at("callers"));
            }
        }
    }
}

/// Shares of what a workload measured itself, by function.
using Shares = std::map<std::string, double>;

/// `write_page(C)` and `queue_pop (re-acquire ...)` are labels of the workload for functions.
std::string functionOf(const std::string& label)
{
    return label.substr(0, std::min(label.find_first_of("( "), label.find(":LINE")));
}

Shares sharesOf(const Json& oracleLock, const char* figure)
{
    Shares shares;
    double sum = 0;
    for (const Json& site : oracleLock.at("sites")) {
        shares[functionOf(site.at("site"))] += site.at(figure).get<double>();
        sum += site.at(figure).get<double>();
    }
    for (auto& [site, share] : shares)
        share *= 100 / sum;
    return shares;
}

Shares inPercent(const std::map<std::string, uint64_t>& sums)
{
    double sum = 0;
    for (const auto& [name, ns] : sums)
        sum += static_cast<double>(ns);
    Shares shares;
    for (const auto& [name, ns] : sums)
        shares[name] = 100 * static_cast<double>(ns) / sum;
    return shares;
}

Shares siteShares(const RecordedTrace& trace, const TraceLock& lock)
{
    std::map<std::string, uint64_t> sums;
    for (const uint32_t row : lock.sites)
        sums[trace.siteOf(trace.analysis.sites[row].stack)] += trace.analysis.sites[row].waitNs;
    return inPercent(sums);
}

Shares holderShares(const RecordedTrace& trace, const TraceLock& lock)
{
    std::map<std::string, uint64_t> sums;
    for (const HolderSums& holder : lock.holders)
        sums[trace.siteOf(holder.key.stack)] += holder.waitNs;
    return inPercent(sums);
}

double shareOf(const Shares& shares, const std::string& name)
{
    const auto at = shares.find(name);
    return at == shares.end() ? 0 : at->second;
}

/// Holders: within 7 points, and in order where the measured gap is wider.
void checkHolders(const Shares& measured, const Shares& found)
{
    for (const auto& [name, share] : measured) {
        EXPECT_NEAR(shareOf(found, name), share, 7) << name;
        for (const auto& [other, otherShare] : measured) {
            if (share > otherShare + 7) {
                EXPECT_GT(shareOf(found, name), shareOf(found, other));
            }
        }
    }
}

const TraceLock* lockOf(const RecordedTrace& trace, const Json& oracleLock)
{
    const uint64_t address = addressOf(oracleLock.at("addr"));
    const TraceLock* lock = trace.user(address);
    return lock != nullptr || oracleLock.at("type") != "pthread_rwlock" ? lock : trace.user(address + 8);
}

struct OracleCase {
    const char* name;
    double waitTolerance; ///< of the wait, in percent
};

class TraceOracle : public testing::TestWithParam<OracleCase> { };

TEST_P(TraceOracle, agreesWithWhatTheWorkloadMeasured)
{
    if (!fs::is_directory(kRecordings))
        GTEST_SKIP() << "no recordings beside the source tree";
    const std::string name = GetParam().name;
    const RecordedTrace trace = readTrace(kRecordings, name);
    const Json oracle = jsonOf(kRecordings / (name + ".oracle.json"));
    const bool wholeStacks = name.ends_with("-dwarf");
    size_t checked = 0;
    for (const Json& measured : oracle.at("locks")) {
        const auto waitNs = measured.at("wait_ns").get<double>();
        if (waitNs < 1e6)
            continue;
        SCOPED_TRACE(measured.at("name"));
        const TraceLock* lock = lockOf(trace, measured);
        ASSERT_NE(lock, nullptr);
        EXPECT_TRUE(lock->isLock);
        EXPECT_NEAR(static_cast<double>(lock->waitNs), waitNs, waitNs * GetParam().waitTolerance / 100);
        if (wholeStacks) {
            const Shares sites = siteShares(trace, *lock);
            for (const auto& [site, share] : sharesOf(measured, "wait_ns"))
                EXPECT_NEAR(shareOf(sites, site), share, 1) << site;
            checkHolders(sharesOf(measured, "caused_wait_ns_as_holder"), holderShares(trace, *lock));
        }
        ++checked;
    }
    EXPECT_GT(checked, 0U);
    // All other words are waited at for work: they are no locks.
    for (const TraceLock& lock : trace.analysis.locks) {
        EXPECT_EQ(lock.isLock,
            std::ranges::any_of(
                oracle.at("locks"), [&](const Json& measured) { return lockOf(trace, measured) == &lock; }))
            << std::hex << lock.key.address;
    }
}

TEST(TraceRecordings, haveTheSleeperInFlushLogAsRootOfTheWholeChain)
{
    if (!fs::is_directory(kRecordings))
        GTEST_SKIP() << "no recordings beside the source tree";
    const RecordedTrace trace = readTrace(kRecordings, "e.sf-dwarf");
    const Json oracle = jsonOf(kRecordings / "e.sf-dwarf.oracle.json");
    std::map<std::string, uint64_t> addresses;
    for (const Json& lock : oracle.at("locks"))
        addresses[lock.at("name")] = addressOf(lock.at("addr"));
    for (const Json& measured : oracle.at("locks")) {
        SCOPED_TRACE(measured.at("name"));
        const TraceLock* lock = lockOf(trace, measured);
        ASSERT_NE(lock, nullptr);
        std::map<std::pair<uint64_t, std::string>, double> roots;
        for (const auto& [root, ns] : lock->roots) {
            const TraceLock& last = trace.analysis.lock(root.lock);
            const std::string holder =
                root.holder ? trace.siteOf(last.holders[root.holder.v - 1].key.stack) : "";
            roots[{holder.empty() ? 0 : last.key.address, holder}] += static_cast<double>(ns);
        }
        const double wait = static_cast<double>(lock->valueNs());
        for (const Json& root : measured.at("root_cause")) {
            const std::string name = root.at("root_lock");
            const uint64_t address = addresses.contains(name) ? addresses[name] : 0;
            const std::string holder = functionOf(root.at("root_holder"));
            EXPECT_NEAR((roots[{address, holder}]) / wait, root.at("ns").get<double>() / wait, 0.07)
                << name << " " << holder;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Recordings, TraceOracle,
    testing::Values(OracleCase{"a.data-d", 1}, OracleCase{"a.futexonly-fp", 1}, OracleCase{"a.pi", 1},
        OracleCase{"a.rawsys-fp", 1}, OracleCase{"a.sf-dwarf", 1}, OracleCase{"a.sf-fp", 1},
        OracleCase{"a.sf-nofp-fpmode", 1}, OracleCase{"a.sf-nog", 1}, OracleCase{"a.tailsynth", 1},
        OracleCase{"a.threads-dir", 1}, OracleCase{"b.sf-dwarf", 1}, OracleCase{"b.sf-fp", 1},
        OracleCase{"c.sf-dwarf", 1}, OracleCase{"d.sf-dwarf", 20}, OracleCase{"d.sf-fp", 20},
        OracleCase{"e.sf-dwarf", 1}, OracleCase{"e.sf-fp", 1}, OracleCase{"x.pipe-sf", 1}),
    [](const auto& one) {
        std::string name = one.param.name;
        std::ranges::replace_if(
            name, [](char letter) { return letter == '.' || letter == '-'; }, '_');
        return name;
    });

} // namespace
} // namespace whichlock::test
