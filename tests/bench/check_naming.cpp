// SPDX-License-Identifier: GPL-3.0-or-later
// Judges the names of all lock call sites of a kernel or module by its source:
//
//   check_naming VMLINUX SOURCE-TREE [SAMPLE [SEED]]
//
// with the debug package of a distribution's kernel and the very same source (on Debian
// linux-image-VERSION-dbg and linux-source-VERSION). The argument of each lock call is read in its source
// line and walked through the types by the names of variables and members; machine code plays no part in
// that. Prints how many names agree, those that do not, and SAMPLE rows by chance to look at. Fails if a name
// differs.
#include "analyzer/naming/lock_index.h"
#include "tests/bench/source_argument.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <random>
#include <sys/resource.h>

namespace whichlock::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Counts {
    uint64_t sites = 0;
    uint64_t named = 0;
    uint64_t ambiguous = 0;
    uint64_t inferred = 0;
    uint64_t exact = 0;
    uint64_t largerOwner = 0;
    uint64_t otherOwner = 0;
    uint64_t differs = 0;
    uint64_t noTruth = 0; ///< no argument found, or one that names alone do not resolve
};

class Check {
public:
    Check(LockNamer& namer, SourceTree source)
        : namer_(namer)
        , source_(std::move(source))
    {
    }

    void judge(const LockIndexRow& row)
    {
        ++counts_.sites;
        if (row.lock.empty())
            return;
        ++counts_.named;
        counts_.ambiguous += row.ambiguous ? 1 : 0;
        counts_.inferred += row.inferred ? 1 : 0;
        std::string place;
        const auto argument = argumentOf(row, place);
        const auto truth = argument ? lockOfExpression(namer_, row.callSite, *argument) : std::nullopt;
        namer_.trim();
        if (!truth) {
            ++counts_.noTruth;
            return;
        }
        const Agreement agreement = bestAgreement(*truth, row.lock);
        (agreement == Agreement::Exact                ? counts_.exact
                : agreement == Agreement::LargerOwner ? counts_.largerOwner
                : agreement == Agreement::OtherOwner  ? counts_.otherOwner
                                                      : counts_.differs)++;
        if (agreement == Agreement::OtherOwner || agreement == Agreement::Differs)
            fmt::print("{}: {:#x} {} at {}: source {} = {}, named {}\n",
                agreement == Agreement::Differs ? "DIFFERS" : "other owner", row.callSite, row.function,
                place, *argument, *truth, row.lock);
    }

    void show(const LockIndexRow& row)
    {
        std::string place;
        const auto argument = argumentOf(row, place);
        fmt::print("{:#x} {} | {} | {} | {}\n", row.callSite, row.function, place, argument.value_or("?"),
            row.lock.empty() ? "(unnamed)" : row.lock);
    }

    const Counts& counts() const { return counts_; }

private:
    /// The argument in the line of the innermost function that is no lock routine, or of one around it.
    std::optional<std::string> argumentOf(const LockIndexRow& row, std::string& place)
    {
        for (const SourcePlace& frame : placesOf(namer_, row.callSite)) {
            if (isLockPrimitive(frame.function, namer_.image().isKernel()))
                continue;
            place = fmt::format("{}:{}", frame.file, frame.line);
            if (const auto argument = source_.lockArgument(frame.file, frame.line))
                return argument;
        }
        return std::nullopt;
    }

    /// Of ambiguous names one has to be right.
    static Agreement bestAgreement(const std::string& truth, const std::string& names)
    {
        Agreement best = Agreement::Differs;
        for (size_t begin = 0; begin <= names.size();) {
            const size_t end = std::min(names.find(" or ", begin), names.size());
            best = std::min(best, compareLocks(truth, names.substr(begin, end - begin)));
            begin = end + 4;
        }
        return best;
    }

    LockNamer& namer_;
    SourceTree source_;
    Counts counts_;
};

int run(const std::string& path, const std::string& sourceRoot, size_t sample, uint32_t seed)
{
    const auto start = Clock::now();
    auto namer = LockNamer::open(ModuleFiles{.code = path, .debug = path});
    if (!namer) {
        fmt::print(stderr, "{}: {}\n", path, namer.error().message);
        return 2;
    }
    const LockIndex index = buildLockIndex(**namer);
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    Check check(**namer, SourceTree(sourceRoot));
    for (const LockIndexRow& row : index.rows)
        check.judge(row);
    std::mt19937 random(seed);
    for (size_t i = 0; i < sample && !index.rows.empty(); ++i)
        check.show(index.rows[random() % index.rows.size()]);
    const Counts& counts = check.counts();
    const auto percent = [&](uint64_t count) {
        return counts.sites == 0 ? 0.0
                                 : 100.0 * static_cast<double>(count) / static_cast<double>(counts.sites);
    };
    fmt::print("{} call sites: {} named ({:.2f} %), {} of them inferred, {} ambiguous\n", counts.sites,
        counts.named, percent(counts.named), counts.inferred, counts.ambiguous);
    fmt::print(
        "with the source: {} the same, {} the same lock in a larger owner, {} with another owner, {} differ, "
        "{} without truth\n",
        counts.exact, counts.largerOwner, counts.otherOwner, counts.differs, counts.noTruth);
    fmt::print("index: {:.2f} s, at most {} MB\n", elapsed.count(), usage.ru_maxrss / 1024);
    return counts.differs == 0 ? 0 : 1;
}

} // namespace
} // namespace whichlock::bench

int main(int argc, char** argv)
{
    if (argc < 3) {
        fmt::print(stderr, "usage: check_naming VMLINUX SOURCE-TREE [SAMPLE [SEED]]\n");
        return 2;
    }
    const size_t sample = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 0;
    const auto seed = static_cast<uint32_t>(argc > 4 ? std::strtoul(argv[4], nullptr, 10) : 1);
    return whichlock::bench::run(argv[1], argv[2], sample, seed);
}
