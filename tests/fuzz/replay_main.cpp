// SPDX-License-Identifier: GPL-3.0-or-later
// Runs files through LLVMFuzzerTestOneInput() without a fuzzer, so that every ordinary test run replays the
// samples and all that the fuzzers once found. Arguments: files and folders; a folder that is missing is
// empty.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv)
{
    namespace fs = std::filesystem;
    std::vector<fs::path> paths;
    for (int i = 1; i < argc; ++i) {
        if (fs::is_regular_file(argv[i]))
            paths.emplace_back(argv[i]);
        if (!fs::is_directory(argv[i]))
            continue;
        for (const auto& entry : fs::recursive_directory_iterator(argv[i])) {
            if (entry.is_regular_file())
                paths.push_back(entry.path());
        }
    }
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) {
        std::printf("%s\n", path.c_str());
        std::fflush(stdout); // the last one printed is the one that crashed
        std::ifstream in(path, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(in), {}};
        LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    }
    std::printf("%zu inputs replayed\n", paths.size());
    return paths.empty() ? 1 : 0;
}
