// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/golden.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sys/wait.h>

namespace whichlock::test {
namespace {

namespace fs = std::filesystem;

std::string readFile(const fs::path& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void writeFile(const fs::path& path, const std::string& text)
{
    std::ofstream(path, std::ios::binary) << text;
}

std::string inQuotes(const fs::path& path)
{
    std::string out = "'";
    for (const char c : path.string())
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + '\'';
}

/// The words behind `whichlock report`, as a shell reads them.
std::string argumentsOf(const GoldenCase& golden)
{
    if (fs::exists(golden.folder / "args")) {
        std::string text = readFile(golden.folder / "args");
        std::replace(text.begin(), text.end(), '\n', ' ');
        return text;
    }
    std::vector<std::string> inputs;
    for (const auto& entry : fs::directory_iterator(golden.folder)) {
        if (entry.path().filename().string().starts_with("input"))
            inputs.push_back(inQuotes(entry.path().filename()));
    }
    std::sort(inputs.begin(), inputs.end());
    std::string words;
    for (const std::string& input : inputs)
        words += input + ' ';
    return words;
}

struct Outcome {
    std::string out;
    std::string err;
    std::string exitStatus; ///< empty for 0
};

Outcome run(
    const GoldenCase& golden, const fs::path& program, const fs::path& scratch, const std::string& format)
{
    std::string stem = golden.name;
    std::replace(stem.begin(), stem.end(), '/', '_');
    fs::create_directories(scratch);
    const fs::path out = scratch / (stem + ".out");
    const fs::path err = scratch / (stem + ".err");
    const std::string command = "cd " + inQuotes(golden.folder) + " && " + inQuotes(program)
        + " report --format " + format + ' ' + argumentsOf(golden) + " > " + inQuotes(out) + " 2> "
        + inQuotes(err) + " < /dev/null";
    const int status = std::system(command.c_str());
    Outcome outcome{readFile(out), readFile(err), {}};
    if (WIFSIGNALED(status))
        outcome.exitStatus = "signal " + std::to_string(WTERMSIG(status)) + '\n';
    else if (WEXITSTATUS(status) != 0)
        outcome.exitStatus = std::to_string(WEXITSTATUS(status)) + '\n';
    return outcome;
}

void compare(
    const fs::path& expected, const std::string& actual, bool mustExist, std::vector<Difference>& differences)
{
    const bool exists = fs::exists(expected);
    if (exists ? readFile(expected) != actual : mustExist || !actual.empty())
        differences.push_back({expected, actual, !exists});
}

fs::path actualOf(const fs::path& expected)
{
    std::string name = expected.filename().string();
    return expected.parent_path() / ("actual" + name.substr(name.find('.')));
}

/// What `diff -u` says; it is part of every Debian system.
std::string diffOf(const fs::path& expected, const fs::path& actual)
{
    const std::string command = "diff -u " + inQuotes(expected) + ' ' + inQuotes(actual) + " | head -n 60";
    std::FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr)
        return {};
    std::string text;
    char buffer[4096];
    for (size_t got = fread(buffer, 1, sizeof buffer, pipe); got > 0;
         got = fread(buffer, 1, sizeof buffer, pipe))
        text.append(buffer, got);
    pclose(pipe);
    return text;
}

} // namespace

std::vector<GoldenCase> goldenCases(const fs::path& root)
{
    std::vector<GoldenCase> cases;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
        if (!entry.is_directory())
            continue;
        const bool hasInput = std::any_of(fs::directory_iterator(entry.path()), fs::directory_iterator(),
            [](const auto& file) { return file.path().filename().string().starts_with("input"); });
        if (hasInput)
            cases.push_back({fs::relative(entry.path(), root).string(), entry.path()});
    }
    std::sort(
        cases.begin(), cases.end(), [](const GoldenCase& a, const GoldenCase& b) { return a.name < b.name; });
    return cases;
}

std::vector<Difference> runGolden(const GoldenCase& golden, const fs::path& program, const fs::path& scratch)
{
    std::vector<Difference> differences;
    const Outcome text = run(golden, program, scratch, "text");
    compare(golden.folder / "expected.txt", text.out, true, differences);
    compare(golden.folder / "expected.err", text.err, false, differences);
    compare(golden.folder / "expected.exit", text.exitStatus, false, differences);
    if (const fs::path expected = golden.folder / "expected.md"; fs::exists(expected))
        compare(expected, run(golden, program, scratch, "markdown").out, true, differences);
    if (const fs::path expected = golden.folder / "expected.report.json"; fs::exists(expected))
        compare(expected, run(golden, program, scratch, "json").out, true, differences);
    return differences;
}

std::string reportDifferences(const std::vector<Difference>& differences)
{
    std::string text;
    for (const Difference& difference : differences) {
        const fs::path actual = actualOf(difference.expected);
        writeFile(actual, difference.actual);
        if (difference.missing)
            text += difference.expected.string() + " is missing; what it would hold is in "
                + actual.filename().string() + '\n';
        else
            text += diffOf(difference.expected, actual);
    }
    return text;
}

void removeActual(const GoldenCase& golden)
{
    for (const char* name : {"actual.txt", "actual.err", "actual.exit", "actual.md", "actual.report.json"})
        fs::remove(golden.folder / name);
}

void rewriteExpected(const std::vector<Difference>& differences)
{
    for (const Difference& difference : differences) {
        const std::string name = difference.expected.filename().string();
        const bool emptyWhenMissing = name == "expected.err" || name == "expected.exit";
        if (emptyWhenMissing && difference.actual.empty())
            fs::remove(difference.expected);
        else
            writeFile(difference.expected, difference.actual);
    }
}

} // namespace whichlock::test
