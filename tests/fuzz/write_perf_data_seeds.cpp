// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the byte-built recordings of the tests into a folder, as seeds of the fuzzer. Argument: the folder.
#include "tests/support/perf_data_samples.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

int main(int argc, char** argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: write_perf_data_seeds FOLDER\n");
        return 1;
    }
    const std::filesystem::path folder = argv[1];
    std::filesystem::create_directories(folder);
    for (const auto& [name, bytes] : whichlock::test::namedPerfData())
        std::ofstream(folder / (name + ".data"), std::ios::binary) << bytes;
    return 0;
}
