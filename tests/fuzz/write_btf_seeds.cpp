// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the seeds of fuzz_btf into a folder: write_btf_seeds FOLDER.
#include "tests/support/btf_writer.h"

#include <cstdio>
#include <fstream>

namespace whichlock::test {
namespace {

void write(const std::string& path, const std::vector<uint8_t>& base, const std::vector<uint8_t>& btf)
{
    std::ofstream stream(path, std::ios::binary);
    stream.put(static_cast<char>(base.size() & 0xffU)).put(static_cast<char>(base.size() >> 8U));
    for (const std::vector<uint8_t>* part : {&base, &btf})
        stream.write(reinterpret_cast<const char*>(part->data()), static_cast<std::streamsize>(part->size()));
}

/// Types that only refer to each other, in a circle and to what does not exist.
std::vector<uint8_t> circles()
{
    BtfWriter btf;
    btf.add(BtfKind::Typedef, "a", 2);
    btf.add(BtfKind::Typedef, "b", 1);
    btf.add(BtfKind::Array, "", 0, {3, 3, 0xffffffff});
    btf.structure("self", 8, {{"again", 4, 0}, {"missing", 77, 4}});
    btf.add(BtfKind::Pointer, "", 5);
    return btf.bytes();
}

/// A module's types, which go on behind those of a kernel.
std::vector<uint8_t> ofModule(uint32_t inode)
{
    BtfWriter btf;
    btf.add(BtfKind::Pointer, "", inode);
    return btf.bytes();
}

} // namespace
} // namespace whichlock::test

int main(int argc, char** argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "write_btf_seeds FOLDER\n");
        return 1;
    }
    const std::string folder = std::string(argv[1]) + "/";
    constexpr uint32_t kInode = 7;
    whichlock::test::write(folder + "small-kernel", {}, whichlock::test::btfOfSmallKernel());
    whichlock::test::write(folder + "types-in-circles", {}, whichlock::test::circles());
    whichlock::test::write(
        folder + "module-on-kernel", whichlock::test::btfOfSmallKernel(), whichlock::test::ofModule(kInode));
    return 0;
}
