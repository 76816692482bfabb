// SPDX-License-Identifier: GPL-3.0-or-later
// Names of locks in recordings: from the addresses of a stack to the report's row.
#include "analyzer/locks/attribution.h"
#include "analyzer/model/profile_builder.h"
#include "analyzer/report/document.h"
#include "analyzer/report/explanation.h"
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

    Profile profile(const std::string& folder, EvidenceLog* evidence = nullptr)
    {
        const std::string bytes = writer_.file();
        std::vector<std::unique_ptr<Source>> sources;
        sources.push_back(Source::fromMemory("perf.data", bytes));
        RecordingOptions options;
        options.evidence = evidence;
        return loadSession(
            std::move(sources), {}, {.debugDirs = {folder}, .debugRoot = "/nonexistent"}, options);
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

/// A profile in which a call took a lock that its reader named.
Profile profileOfNamedCall(const CalledLock& lock, std::string_view function = "dput")
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
        {.symbol = function, .object = "[kernel.kallsyms]", .symbolOffset = 0x1f, .lock = lock}};
    builder.sample(section, {.count = 100, .weight = 100, .frames = frames});
    LoadedInput loaded;
    loaded.name = "perf.data";
    loaded.format = "perf.data";
    builder.finishInput(loaded);
    return builder.freeze();
}

/// A recording of a thread that waits in the lock of `bank::Ledger::abseil`.
RecordedProgram recordingOfAbseil(const std::string& path)
{
    const auto namer = openNamer(path);
    uint64_t lock = 0;
    for (const ImageSymbol& symbol : namer->image().functions())
        if (symbol.name == "_ZN4absl5Mutex4LockEv")
            lock = symbol.address;
    const auto calls = callsIn(*namer, "bank::Ledger::abseil");
    constexpr uint64_t kCallBytes = 5;
    RecordedProgram recording(path);
    for (int i = 0; i < 40; ++i)
        recording.sample({lock + 2, calls.at(0).second + kCallBytes});
    return recording;
}

TEST(RecordedLocks, areExplainedByInstructionsVariablesAndTypes)
{
    const std::string path = lockFixture("O2", "cxx_sites");
    EvidenceLog log;
    const Profile profile = recordingOfAbseil(path).profile(std::filesystem::path(path).parent_path(), &log);
    const auto routines = RoutineTable::builtIn().withUserFile(
        "own", "symbol\trole\tprimitive\nabsl::Mutex::Lock\tslowpath-spin\tmutex\n");
    ASSERT_TRUE(routines);
    const Report report = buildReport(profile, {}, *routines);
    ASSERT_EQ(log.calls.size(), 1U) << "many samples are of one call";
    const auto explanation = explainLock(report, log, "Ledger::abseil_");
    ASSERT_TRUE(explanation) << explanation.error();
    ASSERT_TRUE(explanation->row);
    EXPECT_EQ(explanation->row->name, "bank::Ledger::abseil_");
    EXPECT_EQ(explanation->row->rung, Rung::Type);
    EXPECT_EQ(explanation->row->verified, false);
    ASSERT_EQ(explanation->calls.size(), 1U);
    const CallEvidence& call = explanation->calls[0];
    EXPECT_TRUE(call.function.starts_with("bank::Ledger::abseil+")) << call.function;
    EXPECT_EQ(call.module.recordedBuildId, "");
    ASSERT_TRUE(call.name);
    ASSERT_EQ(call.name->evidence.frames.size(), 1U);
    const EvidenceFrame& frame = call.name->evidence.frames[0];
    EXPECT_EQ(frame.steps.at(0).value, "rdi") << "the object is the first argument";
    EXPECT_TRUE(frame.steps.at(0).instruction.starts_with("call"));
    ASSERT_FALSE(frame.variables.empty());
    EXPECT_NE(frame.variables[0].find("parameter this is"), std::string::npos) << frame.variables[0];
    // total_, a mutex of 40 bytes and a shared mutex of 56 stand in front of it.
    EXPECT_EQ(frame.typePath, "bank::Ledger +0x68: abseil_, absl::Mutex");
    const std::string text = renderExplanation(*explanation);
    for (const char* part : {"rung        type: the type and member of what the code passes", "none recorded",
             "calls       _ZN4absl5Mutex4LockEv", "parameter this is", "+0x68: abseil_"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    const std::string json = renderExplanationJson(*explanation);
    for (const char* part : {"\"rung\": \"type\"", "\"verified\": false", "\"named_at\": \"0x"})
        EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
}

TEST(RecordedLocks, areExplainedByWhatIsMissing)
{
    const std::string path = lockFixture("O2", "cxx_sites");
    EvidenceLog log;
    const Profile profile = recordingOfAbseil(path).profile(scratchPath("empty"), &log);
    const Report report = buildReport(profile, {}, RoutineTable::builtIn());
    const auto nothing = explainLock(report, log, "1");
    ASSERT_FALSE(nothing) << "without names of functions no lock is seen";
    EXPECT_NE(nothing.error().find("no lock is waited for"), std::string::npos) << nothing.error();
}

TEST(RecordedLocks, areChosenByNumberNameOrPart)
{
    const Report report =
        buildReport(profileOfNamedCall({.source = LockSource::Type, .name = "struct dentry::d_lockref.lock"}),
            {}, RoutineTable::builtIn());
    for (const char* which : {"1", "1:1", "struct dentry::d_lockref.lock", "d_lockref"})
        EXPECT_TRUE(explainLock(report, {}, which)) << which;
    for (const char* which : {"2", "2:1", "inode", "1:", ":1"})
        EXPECT_FALSE(explainLock(report, {}, which)) << which;
    EXPECT_NE(explainLock(report, {}, "inode").error().find("1:1 struct dentry"), std::string::npos);
}

TEST(RecordedLocks, ofOtherProcessorsHaveFewerRungs)
{
    EXPECT_EQ(rungsOf("x86_64").find("only on"), std::string_view::npos);
    for (const char* arch : {"aarch64", "ppc64le", ""})
        EXPECT_NE(rungsOf(arch).find("only on x86-64"), std::string_view::npos) << arch;
}

/// A program of another processor is not followed as if it were x86 code.
TEST(RecordedLocks, haveNoNameByCodeOfAnotherProcessor)
{
    const std::string folder = scratchPath("aarch64");
    std::filesystem::create_directories(folder);
    std::string elf = readBytes(lockFixture("O2", "cxx_sites"));
    constexpr size_t kMachineAt = 18;
    elf[kMachineAt] = static_cast<char>(183);
    writeBytes(folder + "/cxx_sites", elf);
    EvidenceLog log;
    const Profile profile = recordingOfAbseil(lockFixture("O2", "cxx_sites")).profile(folder, &log);
    // The lines of the source do not need the code.
    for (uint32_t i = 1; i <= profile.frameCount(); ++i)
        EXPECT_TRUE(profile.frame({i}).lockSource == LockSource::None
            || (profile.frame({i}).lockSource == LockSource::Line
                && profile.string(profile.frame({i}).lock).starts_with("cxx_sites.cpp:")));
    EXPECT_FALSE(framesOf(profile, "bank::Ledger::abseil").empty()) << "functions have their names";
    ASSERT_FALSE(log.calls.empty());
    EXPECT_NE(log.calls[0].module.problem.find("only x86-64"), std::string::npos)
        << log.calls[0].module.problem;
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

TEST(RecordedLocks, haveTheLineOfTheSourceWhereNothingNamesThem)
{
    const CalledLock line{.source = LockSource::Line, .verified = true, .name = "fancy.c:812"};
    const Report report =
        buildReport(profileOfNamedCall(line, "my_driver_work"), {}, RoutineTable::builtIn());
    ASSERT_EQ(report.internalError, "");
    const ReportLock& lock = report.sections.at(0).locks.at(0);
    EXPECT_EQ(lock.name, "lock taken at my_driver_work+0x1f (fancy.c:812)");
    EXPECT_EQ(lock.rung, Rung::SourceLine);
    EXPECT_EQ(lock.verified, true);
    EXPECT_FALSE(isNamed(lock.rung)) << "a place is no name";
    EXPECT_NE(renderJson(report).find("\"rung\": \"source-line\""), std::string::npos);
    const std::string text = renderText(buildDocument(report, {}));
    EXPECT_NE(text.find("? at my_driver_work+0x1f (fancy.c:812)"), std::string::npos) << text;
    EXPECT_NE(report.verdict.text.find("fancy.c:812"), std::string::npos) << report.verdict.text;
    // Known kernels say which lock it is, and that is more.
    const Report known = buildReport(profileOfNamedCall(line, "dput"), {}, RoutineTable::builtIn());
    EXPECT_EQ(known.sections.at(0).locks.at(0).rung, Rung::Table);
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
