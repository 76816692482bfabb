// SPDX-License-Identifier: GPL-3.0-or-later
// How fast texts are read: `wc -l`, the cursor alone, the perf script reader into a sink that keeps nothing,
// and everything up to the text report, on the same made-up file. Also the peak memory at two sizes.
// bench_text [MB] [runs]
// With a sample of any text format: its cursor and reader on copies of it, one behind the other.
// bench_text MB RUNS SAMPLE
#include "analyzer/report/document.h"
#include "analyzer/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace whichlock::bench {
namespace {

constexpr uint64_t kMegabyte = 1'000'000;

/// Takes everything and keeps nothing but sums, so that no work can be left out.
class NullSink final : public RecordSink {
public:
    uint64_t samples = 0;
    uint64_t frames = 0;

    SectionHandle section(const SectionRecord&) override { return {}; }
    void total(SectionHandle, uint64_t) override { }
    void row(SectionHandle, const ProfileRow&) override { }
    void sample(SectionHandle, const SampleRecord& sample) override
    {
        ++samples;
        frames += sample.frames.size();
    }
    void leftOut(SectionHandle, const LeftOut&) override { }
    void counterColumns(SectionHandle, std::span<const std::string_view>) override { }
    void counterRow(SectionHandle, std::span<const int64_t>) override { }
    void table(SectionHandle, const TableRecord&) override { }
    void lockTable(SectionHandle, const LockTableRecord&) override { }
    void score(const ScoreRecord&) override { }
    void fact(SectionHandle, FactKind, std::string_view) override { }
    void inputFact(FactKind, std::string_view, const Position&) override { }
    void diagnostic(Diagnostic) override { }
};

/// Stacks as a busy server has them: kernel frames, C++ names with blanks, JIT names, several commands.
class ScriptMaker {
public:
    ScriptMaker()
    {
        makeFrames();
        makeStacks();
    }

    void write(std::FILE* file, uint64_t bytes)
    {
        static constexpr const char* kComms[] = {
            "postgres", "java", "kworker/u16:2-events_unbound", "Web Content", "nginx", "swapper", "mysqld"};
        uint64_t written = 0;
        uint64_t timeUs = 670'698'257;
        std::string text;
        while (written < bytes) {
            timeUs += below(500);
            text.clear();
            fmt::format_to(std::back_inserter(text), "{} {} [{:03}] {:5}.{:06}: {:10} cycles:P: \n",
                kComms[below(std::size(kComms))], 1000 + below(200), below(16), timeUs / 1'000'000,
                timeUs % 1'000'000, 1'000'000 + below(1000));
            text += stacks_[below(stacks_.size())];
            text += '\n';
            written += std::fwrite(text.data(), 1, text.size(), file);
        }
    }

private:
    size_t below(size_t end) { return static_cast<size_t>(random_() % end); }

    void makeFrames()
    {
        static constexpr const char* kVerbs[] = {
            "alloc", "free", "lookup", "insert", "wait", "handle", "commit", "flush", "read", "write"};
        static constexpr const char* kNouns[] = {
            "page", "inode", "dentry", "request", "socket", "queue", "buffer", "txn", "bio", "futex"};
        constexpr int kFunctions = 2000;
        for (int i = 0; i < kFunctions; ++i) {
            const char* verb = kVerbs[below(std::size(kVerbs))];
            const char* noun = kNouns[below(std::size(kNouns))];
            const size_t offset = below(0x800);
            const uint64_t kernel = 0xffffffff81000000ULL + below(0xffffff);
            const uint64_t user = 0x7f0000000000ULL + below(0xffffffffff);
            kernel_.push_back(
                fmt::format("\t{:16x} {}_{}_{}+0x{:x} ([kernel.kallsyms])\n", kernel, noun, verb, i, offset));
            user_.push_back(i % 4 == 0
                    ? fmt::format("\t{:16x} server::{}Pool<std::shared_ptr<server::Item> >::{}(int, unsigned "
                                  "long)+0x{:x} (/usr/lib/x86_64-linux-gnu/libserver.so.{})\n",
                        user, noun, verb, offset, i % 7)
                    : fmt::format(
                        "\t{:16x} {}{}{}+0x{:x} (/usr/sbin/server)\n", user, verb, noun, i, offset));
        }
    }

    void makeStacks()
    {
        constexpr int kStacks = 3000;
        for (int i = 0; i < kStacks; ++i) {
            std::string stack;
            for (size_t depth = 4 + below(5); depth > 0; --depth)
                stack += kernel_[below(kernel_.size())];
            for (size_t depth = 8 + below(5); depth > 0; --depth)
                stack += user_[below(user_.size())];
            stacks_.push_back(std::move(stack));
        }
    }

    std::mt19937_64 random_{20260131};
    std::vector<std::string> kernel_;
    std::vector<std::string> user_;
    std::vector<std::string> stacks_;
};

std::string makeFile(const std::function<void(std::FILE*)>& write)
{
    const char* folder = std::getenv("TMPDIR");
    std::string path = std::string(folder != nullptr ? folder : "/tmp") + "/bench_text.XXXXXX";
    const int descriptor = ::mkstemp(path.data());
    std::FILE* file = descriptor < 0 ? nullptr : ::fdopen(descriptor, "w");
    if (file == nullptr) {
        std::perror(path.c_str());
        std::exit(1);
    }
    write(file);
    std::fclose(file);
    return path;
}

std::string makeScript(uint64_t megabytes)
{
    return makeFile([&](std::FILE* file) { ScriptMaker().write(file, megabytes * kMegabyte); });
}

/// Whole copies of a sample; their bytes are added up in `bytes`.
std::string makeCopies(const std::string& sample, uint64_t megabytes, uint64_t& bytes)
{
    std::ifstream in(sample, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    return makeFile([&](std::FILE* file) {
        while (!text.empty() && bytes < megabytes * kMegabyte)
            bytes += std::fwrite(text.data(), 1, text.size(), file);
    });
}

double medianSeconds(int runs, const std::function<void()>& work)
{
    std::vector<double> seconds;
    for (int i = 0; i < runs; ++i) {
        const auto start = std::chrono::steady_clock::now();
        work();
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
}

void countWithWc(const std::string& path)
{
    std::FILE* pipe = ::popen(("wc -l '" + path + "'").c_str(), "r");
    char answer[256];
    while (pipe != nullptr && std::fgets(answer, sizeof answer, pipe) != nullptr) { }
    if (pipe != nullptr)
        ::pclose(pipe);
}

uint64_t countWithCursor(const std::string& path)
{
    auto source = Source::openFile(path);
    if (!source)
        return 0;
    std::vector<Diagnostic> diagnostics;
    TextCursor cursor(**source, diagnostics);
    uint64_t bytes = 0;
    for (; const TextLine* line = cursor.peek(); cursor.advance())
        bytes += line->text.size();
    return bytes;
}

NullSink parse(const std::string& path)
{
    NullSink sink;
    if (auto source = Source::openFile(path))
        load(**source, sink);
    return sink;
}

/// The whole way: profile, attribution, report, text.
size_t writeReport(const std::string& path)
{
    OpenedInputs opened = openInputs({path});
    const Profile profile = loadSession(std::move(opened.sources));
    return renderText(buildDocument(buildReport(profile, {}, RoutineTable::builtIn()), {})).size();
}

/// Peak resident memory of `work` in a process of its own, in MB.
double peakMegabytes(const std::function<void()>& work)
{
    const pid_t child = ::fork();
    if (child == 0) {
        work();
        std::_Exit(0);
    }
    int status = 0;
    rusage usage{};
    ::wait4(child, &status, 0, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

void report(const char* what, uint64_t bytes, double seconds, double secondsOfWc)
{
    fmt::print("{:<24} {:8.0f} MB/s  {:6.2f} x wc -l\n", what,
        static_cast<double>(bytes) / seconds / static_cast<double>(kMegabyte), seconds / secondsOfWc);
}

int runSample(const std::string& sample, uint64_t megabytes, int runs)
{
    uint64_t bytes = 0;
    const std::string path = makeCopies(sample, megabytes, bytes);
    const double wc = medianSeconds(runs, [&] { countWithWc(path); });
    fmt::print("{}, {} bytes in all, median of {} runs\n", sample, bytes, runs);
    report("cursor", bytes, medianSeconds(runs, [&] { countWithCursor(path); }), wc);
    report("reader, null sink", bytes, medianSeconds(runs, [&] { parse(path); }), wc);
    std::remove(path.c_str());
    return 0;
}

int run(uint64_t megabytes, int runs)
{
    constexpr uint64_t kSmallMegabytes = 50;
    const std::string small = makeScript(kSmallMegabytes);
    const std::string path = makeScript(megabytes);
    const NullSink sums = parse(path);
    const uint64_t bytes = megabytes * kMegabyte;
    fmt::print(
        "{} MB, {} samples, {} frames, median of {} runs\n", megabytes, sums.samples, sums.frames, runs);
    const double wc = medianSeconds(runs, [&] { countWithWc(path); });
    report("wc -l", bytes, wc, wc);
    report("cursor", bytes, medianSeconds(runs, [&] { countWithCursor(path); }), wc);
    report("perf script, null sink", bytes, medianSeconds(runs, [&] { parse(path); }), wc);
    report("text report", bytes, medianSeconds(runs, [&] { writeReport(path); }), wc);
    fmt::print("peak memory: {:.1f} MB at {} MB, {:.1f} MB at {} MB\n",
        peakMegabytes([&] { writeReport(small); }), kSmallMegabytes,
        peakMegabytes([&] { writeReport(path); }), megabytes);
    std::remove(small.c_str());
    std::remove(path.c_str());
    return 0;
}

} // namespace
} // namespace whichlock::bench

int main(int argc, char** argv)
{
    const uint64_t megabytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200;
    const int runs = argc > 2 ? std::atoi(argv[2]) : 5;
    if (argc > 3)
        return whichlock::bench::runSample(argv[3], std::max<uint64_t>(megabytes, 1), std::max(runs, 1));
    return whichlock::bench::run(std::max<uint64_t>(megabytes, 1), std::max(runs, 1));
}
