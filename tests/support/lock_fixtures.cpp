// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/lock_fixtures.h"

#include "analyzer/symbols/demangle.h"
#include "analyzer/symbols/dwarf_lines.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace whichlock::test {
namespace {

/// Indexes of both as `[#]`.
std::string anyIndex(const std::string& text)
{
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
        result += text[i];
        if (text[i] == '[') {
            const size_t end = text.find(']', i);
            if (end == std::string::npos)
                return text;
            result += "#]";
            i = end;
        }
    }
    return result;
}

} // namespace

std::string fixturePath(const std::string& path)
{
    return std::string(WHICHLOCK_FIXTURES) + "/" + path;
}

std::string lockFixture(const std::string& folder, const std::string& program)
{
    return fixturePath("locks-" + folder + "/" + program);
}

std::unique_ptr<LockNamer> openNamer(const ModuleFiles& files, bool evidence)
{
    auto namer = LockNamer::open(files, {.evidence = evidence});
    EXPECT_TRUE(namer) << files.code << ": " << (namer ? "" : namer.error().message);
    return namer ? std::move(*namer) : nullptr;
}

std::map<uint32_t, std::string> marksOf(const std::string& program, const std::string& mark)
{
    std::ifstream source(std::string(WHICHLOCK_SOURCE) + "/tests/fixtures/locks/" + program + ".cpp");
    EXPECT_TRUE(source) << program;
    std::map<uint32_t, std::string> marks;
    std::string line;
    const std::string begin = "// " + mark + " ";
    for (uint32_t number = 1; std::getline(source, line); ++number)
        if (const size_t at = line.find(begin); at != std::string::npos)
            marks[number] = line.substr(at + begin.size());
    return marks;
}

bool isAllowed(const std::string& mark, const std::string& name)
{
    size_t begin = 0;
    while (begin <= mark.size()) {
        const size_t end = std::min(mark.find('|', begin), mark.size());
        const std::string one = mark.substr(begin, end - begin);
        if (one == name || (one == "FORWARDS" && name.empty())
            || (one.find("[#]") != std::string::npos && anyIndex(one) == anyIndex(name)))
            return true;
        begin = end + 1;
    }
    return false;
}

std::vector<SourceCall> markedCalls(LockNamer& namer, const std::string& path, const std::string& program)
{
    const auto marks = marksOf(program, "LOCK:");
    const auto file = ElfFile::open(path);
    EXPECT_TRUE(file) << path;
    const auto lines = file ? DwarfLines::open(**file) : nullptr;
    EXPECT_NE(lines, nullptr) << path;
    std::vector<SourceCall> calls;
    if (lines == nullptr)
        return calls;
    for (const LockCall& call : namer.findCalls()) {
        SourceCall one{.call = call};
        for (const SourceFrame& frame : lines->lookUp(call.address))
            if (const auto mark = marks.find(frame.line);
                frame.file.ends_with(program + ".cpp") && one.line == 0 && mark != marks.end()) {
                one.line = frame.line;
                one.mark = mark->second;
            }
        calls.push_back(one);
    }
    return calls;
}

std::vector<std::pair<std::string, uint64_t>> callsIn(const LockNamer& namer, const std::string& function)
{
    std::vector<std::pair<std::string, uint64_t>> calls;
    Disassembler disassembler;
    for (const ImageSymbol& symbol : namer.image().functions()) {
        if (demangle(symbol.name) != function)
            continue;
        std::vector<Instruction> instructions;
        disassembler.decode(namer.image().bytesAt(symbol.address, symbol.size), symbol.address, instructions);
        for (const Instruction& one : instructions)
            if (one.operation == Operation::Call && one.target != 0)
                calls.emplace_back(demangle(namer.image().targetName(one.target)), one.address);
        return calls;
    }
    return calls;
}

std::string scratchPath(const std::string& name)
{
    std::filesystem::create_directories(WHICHLOCK_SCRATCH);
    return std::string(WHICHLOCK_SCRATCH) + "/" + name;
}

std::string readBytes(const std::string& path)
{
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void writeBytes(const std::string& path, const std::string& bytes)
{
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

} // namespace whichlock::test
