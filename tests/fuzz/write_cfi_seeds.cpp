// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the seeds of fuzz_cfi into a folder: write_cfi_seeds FOLDER.
#include "tests/support/cfi_writer.h"

#include <cstdio>
#include <fstream>

namespace whichlock::test {
namespace {

constexpr uint64_t kStack = 0x7ffe0000;
constexpr uint64_t kBase = 0x400000;
constexpr uint64_t kHeaderAddress = 0x90000;

std::string inputOf(unsigned flags, const CfiWriter& cfi, bool withHeader)
{
    const std::string stack = Bytes()
                                  .u64(kBase + 0x2010)
                                  .u64(1)
                                  .u64(2)
                                  .u64(kBase + 0x3010)
                                  .u64(kStack + 0x38)
                                  .u64(kBase + 0x5000)
                                  .u64(0)
                                  .u64(kStack + 0x58)
                                  .u64(kBase + 0x2000)
                                  .u64(0)
                                  .u64(0)
                                  .u64(1)
                                  .u64(2)
                                  .u64(kBase + 0x4010)
                                  .str();
    const std::string header = withHeader ? cfi.header(kHeaderAddress) : "";
    Bytes input;
    input.u8(flags).u16(stack.size()).u16(header.size()).u16(0x1004);
    for (size_t column = 0; column < 33; ++column)
        input.u64(column == 7 || column == 31 ? kStack
                : column == 6 || column == 29 ? kStack + 0x20
                                              : kBase + 0x2010);
    return input.text(stack).text(header).text(cfi.section()).str();
}

CfiWriter program(bool debugFrame, unsigned stackPointer, unsigned framePointer, unsigned returnColumn)
{
    CfiWriter cfi(debugFrame);
    const bool pushes = returnColumn == 16;
    Bytes entry;
    entry.u8(0x0c).uleb(stackPointer).uleb(pushes ? 8 : 0);
    if (pushes)
        entry.u8(0x80 | returnColumn).uleb(1);
    cfi.common(entry.str(), false, returnColumn);
    cfi.range(0x1000, 0x100, Bytes().u8(0x0a).u8(0x44).u8(0x0e).uleb(8).u8(0x02).u8(9).u8(0x0b).str());
    cfi.range(0x2000, 0x100,
        Bytes()
            .u8(0x0e)
            .uleb(24)
            .u8(0x11)
            .uleb(3)
            .sleb(2)
            .u8(0x14)
            .uleb(12)
            .uleb(1)
            .u8(0x09)
            .uleb(13)
            .uleb(12)
            .str());
    cfi.range(0x3000, 0x100,
        Bytes()
            .u8(0x0c)
            .uleb(framePointer)
            .uleb(16)
            .u8(0x80 | framePointer)
            .uleb(2)
            .u8(0x80 | returnColumn)
            .uleb(1)
            .u8(0x03)
            .u16(0x40)
            .u8(0x13)
            .sleb(-3)
            .u8(0x2d)
            .str());
    cfi.range(0x4000, 0x100, Bytes().u8(0x07).uleb(returnColumn).str());
    if (!debugFrame) {
        const std::string place = Bytes().u8(0x70 + stackPointer).sleb(0x10).str();
        cfi.common(Bytes()
                       .u8(0x0f)
                       .block(Bytes().u8(0x70 + stackPointer).sleb(8).u8(0x06).str())
                       .u8(0x10)
                       .uleb(returnColumn)
                       .block(place)
                       .str(),
            true, returnColumn);
        cfi.range(0x4fff, 0x11, "");
    }
    return cfi;
}

} // namespace
} // namespace whichlock::test

int main(int argc, char** argv)
{
    using namespace whichlock::test;
    if (argc != 2)
        return 1;
    const std::string folder = argv[1];
    const auto write = [&](const char* name, const std::string& bytes) {
        std::ofstream(folder + "/" + name, std::ios::binary) << bytes;
    };
    write("x86-eh-frame", inputOf(0, program(false, 7, 6, 16), true));
    write("x86-eh-frame-without-header", inputOf(0, program(false, 7, 6, 16), false));
    write("x86-debug-frame", inputOf(1, program(true, 7, 6, 16), false));
    write("arm-eh-frame", inputOf(8, program(false, 31, 29, 30), true));
    return 0;
}
