// SPDX-License-Identifier: GPL-3.0-or-later
// Names of locks in recordings: from the addresses of a stack to the report's row.
#include "analyzer/locks/attribution.h"
#include "analyzer/model/profile_builder.h"
#include "analyzer/report/document.h"
#include "analyzer/report/report.h"
#include "analyzer/session/session.h"
#include "tests/support/lock_fixtures.h"
#include "tests/support/perf_data_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace whichlock::test {
namespace {

constexpr uint64_t kBias = 0x5555'0000'0000;
constexpr uint64_t kUserMark = static_cast<uint64_t>(-512);
constexpr uint16_t kUserMode = 2;

/// A recording of one process that ran a fixture.
class RecordedProgram {
public:
    explicit RecordedProgram(const std::string& path)
    {
        writer_.attr({.type = 1, .config = 0, .period = 1000, .sampleType = 0x127, .flags = {18}});
        const auto file = ElfFile::open(path);
        EXPECT_TRUE(file) << path;
        for (const ElfSegment& segment : (*file)->segments()) {
            if (!segment.executable)
                continue;
            Bytes payload = writer_.bytes();
            payload.u32(100)
                .u32(100)
                .u64(kBias + segment.address)
                .u64(segment.memoryBytes)
                .u64(segment.offset);
            payload.text("/srv/app/" + std::filesystem::path(path).filename().string());
            payload.u32(100).u32(100).u64(1);
            writer_.record(1, kUserMode, payload);
        }
    }

    void sample(std::initializer_list<uint64_t> chain)
    {
        Bytes payload = writer_.bytes();
        payload.u64(kBias + *chain.begin()).u32(100).u32(100).u64(++time_).u64(1000).u64(chain.size() + 1);
        payload.u64(kUserMark);
        for (const uint64_t address : chain)
            payload.u64(kBias + address);
        writer_.record(9, kUserMode, payload);
    }

    Profile profile(const std::string& folder)
    {
        const std::string bytes = writer_.file();
        std::vector<std::unique_ptr<Source>> sources;
        sources.push_back(Source::fromMemory("perf.data", bytes));
        return loadSession(std::move(sources), {}, {.debugDirs = {folder}, .debugRoot = "/nonexistent"});
    }

private:
    PerfFileWriter writer_;
    uint64_t time_ = 10;
};

/// The frames of a function in a profile.
std::vector<Frame> framesOf(const Profile& profile, std::string_view function)
{
    std::vector<Frame> frames;
    for (uint32_t i = 1; i <= profile.frameCount(); ++i)
        if (profile.string(profile.frame({i}).symbol) == function)
            frames.push_back(profile.frame({i}));
    return frames;
}

TEST(RecordedLocks, areNamedAtTheFirstFrameOutwardsOfTheLockRoutine)
{
    const std::string path = lockFixture("O2", "cxx_sites");
    const auto namer = openNamer(path);
    ASSERT_NE(namer, nullptr);
    uint64_t lock = 0;
    for (const ImageSymbol& symbol : namer->image().functions())
        if (symbol.name == "_ZN4absl5Mutex4LockEv")
            lock = symbol.address;
    const auto calls = callsIn(*namer, "bank::Ledger::abseil");
    ASSERT_FALSE(calls.empty());
    ASSERT_EQ(calls.front().first, "absl::Mutex::Lock");
    constexpr uint64_t kCallBytes = 5;

    RecordedProgram recording(path);
    recording.sample({lock + 2, calls.front().second + kCallBytes});
    recording.sample({calls.front().second + kCallBytes + 1});
    const Profile profile = recording.profile(std::filesystem::path(path).parent_path());
    size_t named = 0;
    for (const Frame& frame : framesOf(profile, "bank::Ledger::abseil")) {
        if (frame.lockSource == LockSource::None)
            continue; // of the sample that was in the function itself
        ++named;
        EXPECT_EQ(frame.lockSource, LockSource::Type);
        EXPECT_EQ(profile.string(frame.lock), "bank::Ledger::abseil_");
        EXPECT_EQ(profile.string(frame.lockExpression), "this->abseil_");
        EXPECT_FALSE(frame.lockVerified) << "no build id was recorded";
    }
    EXPECT_EQ(named, 1U);
    for (const Frame& frame : framesOf(profile, "absl::Mutex::Lock"))
        EXPECT_EQ(frame.lockSource, LockSource::None);
}

TEST(RecordedLocks, haveNoNameWithoutTheProgram)
{
    const std::string path = lockFixture("O2", "cxx_sites");
    RecordedProgram recording(path);
    recording.sample({0x1500, 0x1600});
    const Profile profile = recording.profile(scratchPath("empty"));
    for (uint32_t i = 1; i <= profile.frameCount(); ++i)
        EXPECT_EQ(profile.frame({i}).lockSource, LockSource::None);
}

/// A profile in which a call took a lock that its reader named.
Profile profileOfNamedCall(const CalledLock& lock)
{
    ProfileBuilder builder;
    builder.beginInput("perf.data");
    SectionRecord record;
    record.kind = SectionKind::CpuProfile;
    record.quantity = QuantityKind::Cpu;
    record.unit = Unit::Samples;
    const SectionHandle section = builder.section(record);
    const TextFrame frames[] = {{.symbol = "native_queued_spin_lock_slowpath", .object = "[kernel.kallsyms]"},
        {.symbol = "_raw_spin_lock", .object = "[kernel.kallsyms]"},
        {.symbol = "dput", .object = "[kernel.kallsyms]", .symbolOffset = 0x1f, .lock = lock}};
    builder.sample(section, {.count = 100, .weight = 100, .frames = frames});
    LoadedInput loaded;
    loaded.name = "perf.data";
    loaded.format = "perf.data";
    builder.finishInput(loaded);
    return builder.freeze();
}

TEST(RecordedLocks, giveTheRowsOfTheReportTheirNames)
{
    const Profile profile = profileOfNamedCall({.source = LockSource::Type,
        .verified = true,
        .name = "struct dentry::d_lockref.lock",
        .expression = "dentry->d_lockref.lock"});
    const Report report = buildReport(profile, {}, RoutineTable::builtIn());
    ASSERT_EQ(report.internalError, "");
    ASSERT_EQ(report.sections.size(), 1U);
    ASSERT_EQ(report.sections[0].locks.size(), 1U);
    const ReportLock& lock = report.sections[0].locks[0];
    EXPECT_EQ(lock.name, "struct dentry::d_lockref.lock");
    EXPECT_EQ(lock.rung, Rung::Type);
    EXPECT_EQ(lock.expression, "dentry->d_lockref.lock");
    EXPECT_EQ(lock.verified, true);
    const std::string json = renderJson(report);
    for (const char* part : {"\"class\": \"struct dentry::d_lockref.lock\"",
             "\"expression\": \"dentry->d_lockref.lock\"", "\"rung\": \"type\"", "\"verified\": true"})
        EXPECT_NE(json.find(part), std::string::npos) << part;
}

TEST(RecordedLocks, ofVariablesAreSymbols)
{
    const Profile profile = profileOfNamedCall(
        {.source = LockSource::Symbol, .name = "tasklist_lock", .expression = "tasklist_lock"});
    const Report report = buildReport(profile, {}, RoutineTable::builtIn());
    ASSERT_EQ(report.sections[0].locks.size(), 1U);
    EXPECT_EQ(report.sections[0].locks[0].rung, Rung::Symbol);
    EXPECT_EQ(report.sections[0].locks[0].verified, false);
}

TEST(RecordedLocks, surviveMergingAndFreezing)
{
    const Profile one = profileOfNamedCall({.source = LockSource::Type, .name = "a", .expression = "b"});
    ProfileBuilder builder;
    builder.merge(one);
    EXPECT_EQ(builder.freeze().canonicalBytes(), one.canonicalBytes());
    const Profile other = profileOfNamedCall({.source = LockSource::Type, .name = "c", .expression = "b"});
    EXPECT_NE(other.canonicalBytes(), one.canonicalBytes());
}

} // namespace
} // namespace whichlock::test
