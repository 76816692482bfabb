// SPDX-License-Identifier: GPL-3.0-or-later
// The program as a user meets it: exit codes, what stands on which stream, options.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace whichlock::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::IsNotSubstring;
using testing::IsSubstring;

constexpr const char* kGood = "  1000 total                                      0.1000\n"
                              "   500 default_idle                               7.8125\n"
                              "   300 .text.lock.dcache                          1.5000\n"
                              "   120 dput                                       0.2500\n"
                              "    80 d_lookup                                   0.3125\n";

std::string readFile(const fs::path& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> linesOf(const std::string& text)
{
    std::vector<std::string> lines;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

struct Outcome {
    int exit = -1; ///< -1 = killed by a signal
    std::string out;
    std::string err;
};

/// Each test works in a folder of its own; file names on the command line are relative to it.
class Cli : public testing::Test {
protected:
    void SetUp() override
    {
        const auto* info = testing::UnitTest::GetInstance()->current_test_info();
        folder_ = fs::path(WHICHLOCK_SCRATCH) / info->name();
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        put("good.txt", kGood);
    }
    void TearDown() override { fs::remove_all(folder_); }

    void put(const std::string& name, const std::string& bytes) const
    {
        std::ofstream(folder_ / name, std::ios::binary) << bytes;
    }

    /// `arguments` as a shell reads them; `redirection` comes behind the ones to out and err.
    Outcome run(const std::string& arguments, const std::string& redirection = "< /dev/null") const
    {
        const std::string command = "cd '" + folder_.string() + "' && XDG_CACHE_HOME='" + folder_.string()
            + "/.cache' '" WHICHLOCK_PROGRAM "' " + arguments + " > .out 2> .err " + redirection;
        const int status = std::system(command.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, readFile(folder_ / ".out"),
            readFile(folder_ / ".err")};
    }

    fs::path folder_;
};

/// Exactly one line on the error stream, and it names file and reason.
void expectOneLine(const Outcome& outcome, const std::string& file, const std::string& reason)
{
    const auto lines = linesOf(outcome.err);
    ASSERT_EQ(lines.size(), 1U) << outcome.err;
    EXPECT_TRUE(lines[0].starts_with("whichlock: ")) << lines[0];
    EXPECT_PRED_FORMAT2(IsSubstring, file, lines[0]);
    EXPECT_PRED_FORMAT2(IsSubstring, reason, lines[0]);
}

bool mentionsReport(const std::string& out)
{
    return out.find("dcache_lock") != std::string::npos || out.find("dcache\\_lock") != std::string::npos;
}

TEST_F(Cli, readsAGoodFileWithoutAWordOnTheErrorStream)
{
    const Outcome outcome = run("report good.txt");
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_TRUE(mentionsReport(outcome.out));
}

TEST_F(Cli, wrongUsageIsExitOneAndALine)
{
    const std::pair<const char*, const char*> kWrong[] = {{"--bogus", "--bogus"}, {"report", "file"},
        {"frobnicate good.txt", "frobnicate"}, {"report --format xml good.txt", "xml"},
        {"report --no-such-option good.txt", "--no-such-option"},
        {"report good.txt --lock-table", "--lock-table"}};
    for (const auto& [arguments, reason] : kWrong) {
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.exit, 1) << arguments;
        EXPECT_EQ(outcome.out, "") << arguments;
        expectOneLine(outcome, "", reason);
    }
    const Outcome nothing = run("");
    EXPECT_EQ(nothing.exit, 1);
    EXPECT_PRED_FORMAT2(IsSubstring, "report FILE", nothing.out);
}

TEST_F(Cli, helpAndVersionAreFine)
{
    const Outcome help = run("--help");
    EXPECT_EQ(help.exit, 0);
    EXPECT_PRED_FORMAT2(IsSubstring, "--redact", help.out);
    const Outcome version = run("--version");
    EXPECT_EQ(version.exit, 0);
    EXPECT_TRUE(version.out.starts_with("whichlock "));
}

TEST_F(Cli, aMissingFileAloneIsExitOne)
{
    const Outcome outcome = run("report missing.txt");
    EXPECT_EQ(outcome.exit, 1);
    EXPECT_EQ(outcome.out, "");
    expectOneLine(outcome, "missing.txt", "No such file");
}

TEST_F(Cli, aMissingFileBesideAGoodOneIsExitTwoWithTheReport)
{
    for (const char* files : {"missing.txt good.txt", "good.txt missing.txt"}) {
        const Outcome outcome = run(std::string("report ") + files);
        EXPECT_EQ(outcome.exit, 2) << files;
        EXPECT_TRUE(mentionsReport(outcome.out)) << files;
        expectOneLine(outcome, "missing.txt", "No such file");
    }
}

TEST_F(Cli, aDirectoryIsExitOne)
{
    fs::create_directory(folder_ / "folder");
    const Outcome outcome = run("report folder");
    EXPECT_EQ(outcome.exit, 1);
    expectOneLine(outcome, "folder", "directory");
    const Outcome beside = run("report folder good.txt");
    EXPECT_EQ(beside.exit, 2);
    EXPECT_TRUE(mentionsReport(beside.out));
}

TEST_F(Cli, anEmptyFileIsExitOne)
{
    put("empty.txt", "");
    const Outcome outcome = run("report empty.txt");
    EXPECT_EQ(outcome.exit, 1);
    EXPECT_EQ(outcome.out, "");
    expectOneLine(outcome, "empty.txt", "empty");
}

TEST_F(Cli, aBinaryFileIsExitFour)
{
    std::string bytes;
    for (int i = 0; i < 4096; ++i)
        bytes += static_cast<char>(i * 7 % 31);
    put("noise.bin", bytes);
    const Outcome outcome = run("report noise.bin");
    EXPECT_EQ(outcome.exit, 4);
    EXPECT_EQ(outcome.out, "");
    expectOneLine(outcome, "noise.bin", "binary");
}

TEST_F(Cli, aDamagedRecordingIsExitTwoWithItsOffset)
{
    put("perf.data", std::string("PERFILE2\x68\0\0\0\0\0\0\0", 16) + std::string(200, '\0'));
    const Outcome outcome = run("report perf.data");
    EXPECT_EQ(outcome.exit, 2);
    expectOneLine(outcome, "perf.data", "offset 0");
}

TEST_F(Cli, aTextWithoutAProfileIsExitFour)
{
    put("mail.txt", "Hello,\nno profile is in this text, only words\nand the number 42.\n");
    const Outcome outcome = run("report mail.txt");
    EXPECT_EQ(outcome.exit, 4);
    EXPECT_EQ(outcome.out, "");
    expectOneLine(outcome, "mail.txt", "without a profile");
}

TEST_F(Cli, anUnknownFileBesideAGoodOneIsExitTwoAndBesideAMissingOneExitOne)
{
    put("mail.txt", "Hello,\nno profile is in this text.\n");
    EXPECT_EQ(run("report mail.txt good.txt").exit, 2);
    EXPECT_EQ(run("report mail.txt missing.txt").exit, 1);
}

TEST_F(Cli, aTableThatEndsInARowKeepsTheRowsBefore)
{
    const std::string good = kGood;
    for (const size_t cut : {good.find("80 d_lookup") + 1, good.size() - 20, good.size() - 1}) {
        put("cut.txt", good.substr(0, cut));
        const Outcome outcome = run("report --format json cut.txt");
        EXPECT_TRUE(outcome.exit == 0 || outcome.exit == 2) << cut << ' ' << outcome.exit;
        const Json json = Json::parse(outcome.out);
        ASSERT_EQ(json.at("sections").size(), 1U);
        EXPECT_EQ(json.at("sections")[0].at("total"), 1000) << cut;
        EXPECT_EQ(json.at("sections")[0].at("contention_total"), 300) << cut;
    }
}

TEST_F(Cli, aLineOfEightMebibytesIsExitTwoAndTheTableBehindItIsRead)
{
    put("long.txt", std::string(8 * 1024 * 1024, 'x') + "\n\n" + kGood);
    const Outcome outcome = run("report long.txt");
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_TRUE(mentionsReport(outcome.out));
    expectOneLine(outcome, "long.txt:1", "1 MiB");
}

TEST_F(Cli, nulBytesAndBytesThatAreNoUtf8AreSkippedOver)
{
    put("nul.txt", std::string("a\0b\0c\n\n", 7) + kGood);
    put("latin.txt", std::string("caf\xe9 \xff\xfe \xc3\n\n") + kGood);
    for (const char* name : {"nul.txt", "latin.txt"}) {
        for (const char* format : {"text", "markdown", "json"}) {
            const Outcome outcome = run(std::string("report --format ") + format + ' ' + name);
            EXPECT_EQ(outcome.exit, 0) << name << outcome.err;
            EXPECT_TRUE(mentionsReport(outcome.out)) << name;
            EXPECT_EQ(outcome.out.find('\0'), std::string::npos) << name;
        }
    }
    const Json json = Json::parse(run("report --format json nul.txt").out);
    EXPECT_TRUE(std::any_of(json.at("diagnostics").begin(), json.at("diagnostics").end(),
        [](const Json& one) { return one.at("code") == "nul-bytes"; }));
}

TEST_F(Cli, aNumberThatDoesNotFitIsExitTwoAndTheOtherRowsAreKept)
{
    std::string text = kGood;
    text.replace(text.find("   120 dput"), 11, "99999999999999999999 dput");
    put("overflow.txt", text);
    const Outcome outcome = run("report --format json overflow.txt");
    EXPECT_EQ(outcome.exit, 2);
    expectOneLine(outcome, "overflow.txt:4", "64 bits");
    const Json section = Json::parse(outcome.out).at("sections").at(0);
    EXPECT_EQ(section.at("rows"), 3);
    EXPECT_EQ(section.at("listed"), 500 + 300 + 80);
}

TEST_F(Cli, aDashReadsStandardInput)
{
    const Outcome outcome = run("report -", "< good.txt");
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_PRED_FORMAT2(IsSubstring, "standard input", outcome.out);
    EXPECT_TRUE(mentionsReport(outcome.out));
    const Outcome empty = run("report -");
    EXPECT_EQ(empty.exit, 1);
    expectOneLine(empty, "standard input", "empty");
}

TEST_F(Cli, severalFilesAreOneSession)
{
    put("vmstat.txt",
        " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa\n"
        " 1  0      0 100000  20000 300000    0    0     1     2  100  200 10 20 70  0\n"
        " 2  0      0 100000  20000 300000    0    0     1     2  100  200 10 40 50  0\n");
    const Outcome outcome = run("report --format json good.txt vmstat.txt");
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    const Json json = Json::parse(outcome.out);
    ASSERT_EQ(json.at("inputs").size(), 2U);
    EXPECT_EQ(json.at("inputs")[0].at("name"), "good.txt");
    ASSERT_EQ(json.at("sections").size(), 2U);
    EXPECT_EQ(json.at("sections")[1].at("input"), "vmstat.txt");
}

TEST_F(Cli, jsonIsOfSchemaVersionOneEvenIfNothingCouldBeRead)
{
    for (const char* file : {"good.txt", "missing.txt"}) {
        const Outcome outcome = run(std::string("report --format json ") + file);
        const Json json = Json::parse(outcome.out);
        EXPECT_EQ(json.at("schema_version"), 1);
        EXPECT_EQ(json.at("tool"), "whichlock");
        for (const char* key : {"inputs", "verdict", "sections", "comparisons", "record_next", "diagnostics"})
            EXPECT_TRUE(json.contains(key)) << key;
    }
}

TEST_F(Cli, aFullDiskIsToldAndIsExitTwo)
{
    if (!fs::exists("/dev/full"))
        GTEST_SKIP() << "no /dev/full here";
    for (const char* arguments : {"report good.txt", "formats good.txt", "--help"}) {
        const Outcome outcome = run(arguments, "> /dev/full");
        EXPECT_EQ(outcome.exit, 2) << arguments;
        expectOneLine(outcome, "standard output", "No space left");
    }
}

TEST_F(Cli, aClosedErrorStreamChangesNoExitCode)
{
    EXPECT_EQ(run("report missing.txt", "2>&-").exit, 1);
    EXPECT_EQ(run("report missing.txt good.txt", "2>&-").exit, 2);
    EXPECT_EQ(run("--bogus", "2>&-").exit, 1);
}

/// Runs the program with a terminal as its error stream and a pipe as standard input that gets the good file
/// after `delay`; returns what came to the terminal.
std::string onTerminal(const fs::path& folder, std::chrono::milliseconds delay)
{
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
    EXPECT_GE(terminal, 0);
    EXPECT_EQ(::grantpt(terminal), 0);
    EXPECT_EQ(::unlockpt(terminal), 0);
    const std::string name = ::ptsname(terminal);
    const int held = ::open(name.c_str(), O_RDWR | O_NOCTTY); // else reading fails once the program is gone
    const std::string command = "cd '" + folder.string() + "' && (cat good.txt; sleep "
        + std::to_string(static_cast<double>(delay.count()) / 1000) + ") | '" WHICHLOCK_PROGRAM
        + "' report - > .out 2> " + name;
    EXPECT_EQ(std::system(command.c_str()), 0);
    ::fcntl(terminal, F_SETFL, O_NONBLOCK);
    std::string shown(4096, '\0');
    const ssize_t length = ::read(terminal, shown.data(), shown.size());
    shown.resize(length > 0 ? static_cast<size_t>(length) : 0);
    ::close(held);
    ::close(terminal);
    return shown;
}

TEST_F(Cli, progressIsShownOnATerminalAfterASecondAndWiped)
{
    const std::string shown = onTerminal(folder_, std::chrono::milliseconds(1600));
    EXPECT_PRED_FORMAT2(IsSubstring, "reading standard input", shown);
    EXPECT_TRUE(shown.ends_with("\r\033[K")) << shown;
    EXPECT_TRUE(mentionsReport(readFile(folder_ / ".out")));
    EXPECT_EQ(onTerminal(folder_, std::chrono::milliseconds(0)), "");
}

TEST_F(Cli, noProgressIsShownWhereThereIsNoTerminal)
{
    const std::string command = "cd '" + folder_.string() + "' && (cat good.txt; sleep 1.6) | '"
        + WHICHLOCK_PROGRAM + "' report - > .out 2> .err";
    EXPECT_EQ(std::system(command.c_str()), 0);
    EXPECT_EQ(readFile(folder_ / ".err"), "");
}

TEST_F(Cli, asksForAPartOfARecording)
{
    put("script.txt",
        "slow 17 [000] 10.000000: 250000 cpu-clock:\n\tffffffff81004005 do_work+0x5 ([kernel.kallsyms])\n\n"
        "fast 18 [001] 10.500000: 250000 cpu-clock:\n\tffffffff81004005 do_work+0x5 ([kernel.kallsyms])\n\n"
        "slow 17 [001] 11.000000: 250000 cpu-clock:\n\tffffffff81004005 do_work+0x5 ([kernel.kallsyms])\n\n");
    const auto samples = [&](const std::string& options) {
        const Outcome outcome = run("report --format json " + options + " script.txt");
        EXPECT_EQ(outcome.exit, 0) << outcome.err;
        return Json::parse(outcome.out).at("sections").at(0).at("samples").get<int>();
    };
    EXPECT_EQ(samples("--thread slow"), 2);
    EXPECT_EQ(samples("--thread 18 --thread slow"), 3);
    EXPECT_EQ(samples("--cpu 1 --time 0.6-"), 1);
    EXPECT_EQ(samples("--time 10.4,"), 2);
    const Outcome wrong = run("report --focus '(' script.txt");
    EXPECT_EQ(wrong.exit, 1);
    expectOneLine(wrong, "--focus", "missing )");
}

TEST_F(Cli, namesCannotSteerTheTerminal)
{
    const std::string name = "bad\033[31m\007.txt";
    put(name, kGood);
    const Outcome outcome = run("report 'missing\033[2J' '" + name + "'");
    EXPECT_EQ(outcome.exit, 2);
    for (const std::string& text : {outcome.out, outcome.err}) {
        EXPECT_EQ(text.find('\033'), std::string::npos);
        EXPECT_EQ(text.find('\007'), std::string::npos);
    }
    put("table.tsv", "symbol\trole\nx\tbad\033[31mrole\n");
    const Outcome table = run("report --lock-table table.tsv good.txt");
    EXPECT_EQ(table.exit, 1);
    EXPECT_EQ(table.err.find('\033'), std::string::npos);
}

TEST_F(Cli, aUserTableMakesAFunctionASlowPath)
{
    put("mine.txt",
        "   500 total                                      0.1000\n"
        "   200 my_own_lock_wait                           7.8125\n"
        "   100 do_work                                    1.5000\n"
        "   100 do_more                                    1.5000\n"
        "   100 do_less                                    1.5000\n");
    put("table.tsv",
        "# locks of our own\nsymbol\trole\tprimitive\nmy_own_lock_wait\tslowpath-spin\tspinlock\n");
    const Json without = Json::parse(run("report --format json mine.txt").out);
    EXPECT_EQ(without.at("sections").at(0).at("contention_total"), 0);
    EXPECT_NE(without.at("verdict").at("guilty"), "yes");
    const Outcome outcome = run("report --format json --lock-table table.tsv mine.txt");
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    const Json with = Json::parse(outcome.out);
    EXPECT_EQ(with.at("sections").at(0).at("contention_total"), 200);
    EXPECT_NEAR(with.at("sections").at(0).at("contention_share_of_total_percent").get<double>(), 40, 1e-9);
    EXPECT_EQ(with.at("verdict").at("guilty"), "yes");
    EXPECT_PRED_FORMAT2(IsSubstring, "my_own_lock_wait", with.at("verdict").at("text").get<std::string>());
}

TEST_F(Cli, aBrokenUserTableIsExitOneWithFileAndLine)
{
    put("table.tsv", "symbol\trole\ngood_one\tslowpath-spin\nbad_one\tno-such-role\n");
    const Outcome outcome = run("report --lock-table table.tsv good.txt");
    EXPECT_EQ(outcome.exit, 1);
    EXPECT_EQ(outcome.out, "");
    expectOneLine(outcome, "table.tsv:3", "no-such-role");
    const Outcome missing = run("report --lock-table none.tsv good.txt");
    EXPECT_EQ(missing.exit, 1);
    expectOneLine(missing, "none.tsv", "No such file");
}

TEST_F(Cli, redactedReportsNameNoHostPathUserOrInput)
{
    std::string text = readFile(fs::path(WHICHLOCK_TESTDATA) / "perf-script/two-events/input.txt");
    const auto replace = [&text](const std::string& from, const std::string& to) {
        const size_t at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
    };
    replace("# hostname : host1", "# hostname : secrethost.example.org");
    replace("# cmdline : /usr/bin/perf record",
        "# cmdline : /usr/bin/perf record -o ../private/secretfile.data --out=/home/secretuser/x "
        "--mail secretuser@mail.example.org");
    put("secretinput.txt", text + "\nsecrethost was busy, says secretuser@mail.example.org\n");
    for (const char* format : {"text", "markdown", "json"}) {
        const Outcome plain = run(std::string("report --format ") + format + " secretinput.txt");
        ASSERT_EQ(plain.exit, 0);
        EXPECT_PRED_FORMAT2(IsSubstring, "secrethost", plain.out);
        EXPECT_PRED_FORMAT2(IsSubstring, "secretinput", plain.out);
        const Outcome outcome = run(std::string("report --redact --format ") + format
            + " \"$PWD/secretinput.txt\" missing_secret.txt");
        EXPECT_EQ(outcome.exit, 2);
        for (const char* secret : {"secret", "example.org", "/usr/bin", "/home", "private"}) {
            EXPECT_PRED_FORMAT2(IsNotSubstring, secret, outcome.out);
            EXPECT_PRED_FORMAT2(IsNotSubstring, secret, outcome.err);
        }
        EXPECT_PRED_FORMAT2(IsNotSubstring, folder_.string(), outcome.out);
        // What is no secret stays.
        EXPECT_PRED_FORMAT2(IsSubstring, "cycles", outcome.out);
        EXPECT_PRED_FORMAT2(IsSubstring, "4.13.0", outcome.out);
    }
}

TEST_F(Cli, redactionKeepsTheWordsThatHappenToBeAFileName)
{
    // A file called `e` must not turn `the` into `thinput-1`.
    for (const char* name : {"e", "lock", "ticks"}) {
        put(name, kGood);
        const Outcome plain = run("report good.txt");
        Outcome outcome = run(std::string("report --redact ") + name);
        EXPECT_EQ(outcome.exit, 0);
        for (size_t at = outcome.out.find("input-1"); at != std::string::npos;
             at = outcome.out.find("input-1"))
            outcome.out.replace(at, 7, "good.txt");
        EXPECT_EQ(outcome.out, plain.out) << name;
    }
}

TEST_F(Cli, formatsSaysWhatAFileWasTakenFor)
{
    put("mail.txt", "Hello,\nno profile is in this text.\n");
    const Outcome good = run("formats good.txt");
    EXPECT_EQ(good.exit, 0);
    EXPECT_PRED_FORMAT2(IsSubstring, "readprofile", good.out);
    EXPECT_EQ(run("formats mail.txt").exit, 4);
    EXPECT_EQ(run("formats good.txt mail.txt").exit, 2);
    const Outcome missing = run("formats missing.txt");
    EXPECT_EQ(missing.exit, 1);
    expectOneLine(missing, "missing.txt", "No such file");
}

TEST_F(Cli, printsTheSameBytesEachTime)
{
    const std::string input = std::string(WHICHLOCK_TESTDATA) + "/opreport/kretprobe-vmstat/input.txt";
    for (const char* format : {"text", "markdown", "json"}) {
        const std::string arguments = std::string("report --format ") + format + " '" + input + "'";
        EXPECT_EQ(run(arguments).out, run(arguments).out);
    }
}

TEST_F(Cli, explainsTheLocksOfCode)
{
    const std::string vmlinux = WHICHLOCK_FIXTURES "/locks-kernel/vmlinux";
    const Outcome text = run("explain do_unlinkat '" + vmlinux + "'");
    EXPECT_EQ(text.exit, 0) << text.err;
    EXPECT_PRED_FORMAT2(IsSubstring, "takes       struct file::f_pos_lock (mutex)", text.out);
    EXPECT_PRED_FORMAT2(IsSubstring, "takes       struct inode::i_rwsem (rwsem)", text.out);
    EXPECT_PRED_FORMAT2(IsSubstring, "parameter file is", text.out);
    const Outcome byLock = run("explain i_rwsem --format json '" + vmlinux + "'");
    EXPECT_EQ(byLock.exit, 0) << byLock.err;
    const Json json = Json::parse(byLock.out);
    ASSERT_EQ(json.at("calls").size(), 1U);
    EXPECT_EQ(json.at("calls").at(0).at("class"), "struct inode::i_rwsem");
    EXPECT_EQ(json.at("calls").at(0).at("function"), "do_unlinkat");
    EXPECT_EQ(json.at("calls").at(0).at("frames").at(0).at("type_path"),
        "struct inode +0x10: i_rwsem, struct rw_semaphore");
    const Outcome none = run("explain nothing_like_it '" + vmlinux + "'");
    EXPECT_EQ(none.exit, 1);
    EXPECT_EQ(none.out, "");
    EXPECT_PRED_FORMAT2(IsSubstring, "no lock call", none.err);
}

TEST_F(Cli, namesWhatRoutinesOfTheUserTake)
{
    put("own.tsv",
        "symbol\trole\tprimitive\tlock_arg\n_Z8wrapLockP15pthread_mutex_t\tacquire-wrapper\tmutex\t0\n");
    const std::string program = "'" WHICHLOCK_FIXTURES "/locks-wrapped/wrapped_sites'";
    const Outcome without = run("locks --format csv " + program);
    EXPECT_PRED_FORMAT2(IsNotSubstring, "Book::mu", without.out);
    const Outcome with = run("locks --format csv --lock-table own.tsv " + program);
    EXPECT_EQ(with.exit, 0) << with.err;
    EXPECT_PRED_FORMAT2(IsSubstring, "Book::mu", with.out);
    EXPECT_PRED_FORMAT2(IsSubstring, "g_book_lock", with.out);
    const Outcome again = run("locks --format csv " + program);
    EXPECT_EQ(again.out, without.out) << "the kept index is the one of the built-in routines";
    EXPECT_EQ(run("locks --lock-table missing.tsv " + program).exit, 1);
}

TEST_F(Cli, givesCandidatesOutOfTheCodeOfAKernel)
{
    put("flat.txt",
        "  1000 total                                      0.1000\n"
        "   500 default_idle                               7.8125\n"
        "   300 __preempt_spin_lock                        1.5000\n"
        "   120 fput                                       0.2500\n"
        "    80 iget                                       0.3125\n");
    const Outcome with =
        run("report --format json --vmlinux '" WHICHLOCK_FIXTURES "/locks-kernel/vmlinux' flat.txt");
    EXPECT_EQ(with.exit, 0) << with.err;
    const Json section = Json::parse(with.out).at("sections").at(0);
    std::map<std::string, std::string> reasons;
    for (const Json& one : section.at("candidates"))
        reasons[one.at("name")] = one.at("reasons").at(0);
    // iget() takes one itself; fput() takes none, but calls do_unlinkat(), which takes two.
    EXPECT_PRED_FORMAT2(IsSubstring, "iget (80) takes it", reasons["struct inode::i_lock"]);
    EXPECT_PRED_FORMAT2(
        IsSubstring, "fput (120) calls do_unlinkat, which takes it", reasons["struct file::f_pos_lock"]);
    EXPECT_PRED_FORMAT2(IsSubstring, "one of 2 locks", reasons["struct inode::i_rwsem"]);
    for (const Json& lock : section.at("locks"))
        EXPECT_NE(lock.at("rung"), "type") << "a candidate is no answer";
    const Outcome without = run("report --format json flat.txt");
    EXPECT_PRED_FORMAT2(IsNotSubstring, "struct inode::i_lock", without.out);
}

TEST_F(Cli, namesNothingByCodeOfAnotherProcessor)
{
    std::string elf = readFile(WHICHLOCK_FIXTURES "/locks-kernel/vmlinux");
    constexpr size_t kMachineAt = 18;
    elf[kMachineAt] = static_cast<char>(183); // aarch64
    put("vmlinux-arm64", elf);
    const Outcome locks = run("locks vmlinux-arm64");
    EXPECT_EQ(locks.exit, 1);
    EXPECT_EQ(locks.out, "");
    EXPECT_PRED_FORMAT2(IsSubstring, "only x86-64", locks.err);
    const Outcome explain = run("explain iget vmlinux-arm64");
    EXPECT_EQ(explain.exit, 1);
    EXPECT_PRED_FORMAT2(IsSubstring, "only x86-64", explain.err);
}

TEST_F(Cli, explainsTheLocksOfTexts)
{
    const Outcome text = run("explain dcache good.txt");
    EXPECT_EQ(text.exit, 0) << text.err;
    EXPECT_PRED_FORMAT2(IsSubstring, ".text.lock.dcache", text.out);
    EXPECT_PRED_FORMAT2(IsSubstring, "No address of this input can be looked up", text.out);
    EXPECT_EQ(run("explain inode_lock good.txt").exit, 1);
    EXPECT_EQ(run("explain dcache_lock").exit, 1);
    EXPECT_EQ(run("explain 1 missing.txt").exit, 1);
}

} // namespace
} // namespace whichlock::test
