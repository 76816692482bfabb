// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/samples.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>

namespace whichlock::test {
namespace {

namespace fs = std::filesystem;

std::string readFile(const fs::path& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string nameOf(const fs::path& relative)
{
    std::string name = relative.parent_path().string();
    if (const std::string stem = relative.stem().string(); stem != "input")
        name += '_' + stem;
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
}

std::vector<Sample> findSamples()
{
    std::vector<fs::path> paths;
    const fs::path root = WHICHLOCK_TESTDATA;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
        // Recordings are no texts.
        if (entry.is_regular_file() && entry.path().filename().string().starts_with("input")
            && entry.path().extension() != ".data")
            paths.push_back(fs::relative(entry.path(), root));
    }
    std::sort(paths.begin(), paths.end());
    std::vector<Sample> found;
    for (const fs::path& path : paths) {
        Sample sample;
        sample.folder = path.begin()->string();
        sample.name = nameOf(path);
        sample.path = path.string();
        sample.text = readFile(root / path);
        found.push_back(std::move(sample));
    }
    return found;
}

} // namespace

const std::vector<Sample>& samples()
{
    static const std::vector<Sample> kSamples = findSamples();
    return kSamples;
}

void PrintTo(const Sample& sample, std::ostream* out)
{
    *out << sample.path;
}

} // namespace whichlock::test
