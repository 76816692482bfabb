// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/symbol_fixtures.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace whichlock::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> outputOf(const std::string& command)
{
    std::vector<std::string> lines;
    std::FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
    if (pipe == nullptr)
        return lines;
    char* line = nullptr;
    size_t capacity = 0;
    ssize_t length = 0;
    while ((length = ::getline(&line, &capacity, pipe)) > 0)
        lines.emplace_back(line, static_cast<size_t>(length) - (line[length - 1] == '\n' ? 1 : 0));
    std::free(line);
    ::pclose(pipe);
    return lines;
}

} // namespace

std::string fixtureFolder(const std::string& variant)
{
    return std::string(WHICHLOCK_FIXTURES) + "/" + variant;
}

std::string scratchFolder(const std::string& name)
{
    const fs::path folder = fs::path(WHICHLOCK_SCRATCH) / name;
    fs::remove_all(folder);
    fs::create_directories(folder);
    return folder.string();
}

void copyFile(const std::string& from, const std::string& to)
{
    fs::create_directories(fs::path(to).parent_path());
    fs::copy_file(from, to, fs::copy_options::overwrite_existing);
}

std::string readWhole(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

void writeWhole(const std::string& path, const std::string& bytes)
{
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

uint32_t markedLine(const std::string& mark)
{
    std::ifstream file(std::string(WHICHLOCK_SOURCE) + "/tests/fixtures/symbols_program.cpp");
    std::string line;
    for (uint32_t number = 1; std::getline(file, line); ++number)
        if (line.ends_with("// mark: " + mark))
            return number;
    return 0;
}

std::map<std::string, NmSymbol> nmSymbols(const std::string& path)
{
    std::map<std::string, NmSymbol> symbols;
    for (const std::string& line : outputOf("nm -S '" + path + "'")) {
        std::istringstream fields(line);
        NmSymbol symbol;
        std::string name;
        std::string size;
        if (!(fields >> std::hex >> symbol.address >> size))
            continue;
        // Symbols without size have no column for it.
        symbol.type = size[0];
        if (size.size() > 1) {
            symbol.size = std::stoull(size, nullptr, 16);
            fields >> symbol.type;
        }
        if (fields >> name)
            symbols[name.substr(0, name.find('@'))] = symbol;
    }
    return symbols;
}

std::optional<std::vector<std::vector<SourceFrame>>> addr2line(
    const std::string& path, const std::vector<uint64_t>& addresses)
{
    const std::string list = std::string(WHICHLOCK_SCRATCH) + "/addresses." + std::to_string(::getpid());
    fs::create_directories(WHICHLOCK_SCRATCH);
    std::ofstream file(list);
    for (const uint64_t address : addresses)
        file << std::hex << "0x" << address << '\n';
    file.close();
    std::vector<std::vector<SourceFrame>> chains;
    SourceFrame frame;
    bool isFunction = true;
    std::string command = "addr2line -a -i -f -e '";
    command.append(path).append("' < '").append(list).append("'");
    for (const std::string& line : outputOf(command)) {
        if (line.starts_with("0x")) {
            chains.emplace_back();
            isFunction = true;
        } else if (isFunction && !chains.empty()) {
            frame = {.function = line == "??" ? "" : line};
            isFunction = false;
        } else if (!chains.empty()) {
            const size_t colon = line.rfind(':');
            frame.file = line.substr(0, colon) == "??" ? "" : line.substr(0, colon);
            frame.line = static_cast<uint32_t>(std::strtoul(line.c_str() + colon + 1, nullptr, 10));
            chains.back().push_back(frame);
            isFunction = true;
        }
    }
    fs::remove(list);
    return chains.size() == addresses.size() ? std::optional(std::move(chains)) : std::nullopt;
}

std::string tidyPath(const std::string& path)
{
    return fs::path(path).lexically_normal().string();
}

} // namespace whichlock::test
