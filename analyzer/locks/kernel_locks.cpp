// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/locks/kernel_locks.h"

#include "analyzer/locks/embedded_tables.h"
#include "analyzer/locks/normalise.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <set>

namespace whichlock {
namespace {

constexpr size_t kMostNames = 3;
constexpr std::string_view kUnknownLock = "?";
constexpr char kThroughStatic = '~';
// A single neighbour is believed when it is nearer than that: about a year and a half.
constexpr int kNearReleases = 8;

/// Counts the releases, so that the distance of 5.10 and 6.1 is 11.
int releaseNumber(const KernelVersion& version)
{
    constexpr std::array<int, 8> kFirst = {0, 0, 0, 40, 60, 81, 101, 121}; // of 3.0, 4.0 ...
    constexpr int kOneAMajor = 20;
    constexpr int kFar = 100; // between 2.4 and 2.6
    const int major = version.part[0];
    if (major <= 2)
        return (version.part[1] - 6) * kFar + version.part[2];
    const int last = static_cast<int>(kFirst.size()) - 1;
    const int first =
        major <= last ? kFirst[static_cast<size_t>(major)] : kFirst.back() + (major - last) * kOneAMajor;
    return first + version.part[1];
}

bool isNear(const KernelVersion& version, const Era& era)
{
    // Of kernels that come into question the only ones that have the function speak for themselves.
    if (!era.since || !era.until)
        return true;
    const int number = releaseNumber(version);
    return number + kNearReleases > releaseNumber(*era.since)
        && number - kNearReleases < releaseNumber(*era.until);
}

std::string_view cell(std::string_view& line)
{
    const size_t end = std::min(line.find('\t'), line.size());
    const std::string_view text = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return text;
}

std::string_view firstLine(std::string_view text)
{
    return text.substr(0, text.find('\n'));
}

/// Members are kept without the word in front of their struct.
std::string fullName(std::string_view lock)
{
    return lock.find("::") == std::string_view::npos ? std::string(lock) : fmt::format("struct {}", lock);
}

} // namespace

/// One row of a function.
struct KernelLocks::Row {
    bool throughStatic = false; ///< in a static function that it calls, which may have been inlined
    LockTake take{};
    std::string_view lock;
    std::string_view kernels;
    std::string_view where;

    bool isOf(const Kernel& kernel) const { return kernels.find(kernel.letter) != std::string_view::npos; }
    bool fits(const Kernel& kernel, char kind) const { return take.kind == kind && isOf(kernel); }
};

namespace {

/// The rows of one kernel that speak for a call: of the same routine if there are any, else of the same kind;
/// what the function takes itself before what static functions take for it.
template <class Row> std::vector<const Row*> speaking(std::vector<const Row*> rows, LockTake wanted)
{
    const auto keep = [&](auto better) {
        if (std::ranges::any_of(rows, better))
            std::erase_if(rows, [&](const Row* row) { return !better(row); });
    };
    keep([](const Row* row) { return !row->throughStatic; });
    if (wanted.variant != LockTake::kAnyVariant)
        keep([&](const Row* row) { return row->take.variant == wanted.variant; });
    return rows;
}

} // namespace

std::string KernelLock::text() const
{
    return fmt::format("{}", fmt::join(locks, " or "));
}

Result<KernelLocks> KernelLocks::parse(std::string_view fileName, std::string_view text)
{
    KernelLocks table;
    constexpr std::string_view kMark = "#kernel\t";
    for (uint64_t number = 1; text.starts_with('#'); ++number) {
        std::string_view line = firstLine(text);
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (!line.starts_with(kMark))
            continue;
        line.remove_prefix(kMark.size());
        const std::string_view letter = cell(line);
        const auto version = KernelVersion::parse(cell(line));
        const bool ordered = version && (table.kernels_.empty() || table.kernels_.back().version < *version);
        if (letter.size() != 1 || !ordered) {
            Position position{.chain = std::string(fileName)};
            position.line = number;
            return fail(DiagnosticCode::UserTableRow,
                "a kernel needs a letter and a version, and those before it have to be older",
                std::move(position));
        }
        table.kernels_.push_back({letter.front(), *version});
    }
    table.body_ = text;
    return table;
}

const KernelLocks& KernelLocks::builtIn()
{
    static const KernelLocks table = [] {
        Result<KernelLocks> parsed = parse("kernel_locks.tsv", embeddedKernelLocks());
        assert(parsed && "the built-in table is broken");
        return parsed ? *std::move(parsed) : KernelLocks();
    }();
    return table;
}

/// The line at or before an offset that begins with a function's name; `start` is where it begins.
std::string_view KernelLocks::lineAt(size_t offset, size_t& start) const
{
    while (true) {
        const size_t before = offset == 0 ? std::string_view::npos : body_.rfind('\n', offset - 1);
        start = before == std::string_view::npos ? 0 : before + 1;
        if (start == 0 || start >= body_.size() || body_[start] != '\t')
            return firstLine(body_.substr(start));
        offset = start - 1;
    }
}

std::vector<KernelLocks::Row> KernelLocks::rowsOf(std::string_view function) const
{
    if (function.empty())
        return {};
    size_t low = 0;
    size_t high = body_.size();
    while (low < high) {
        size_t start = 0;
        std::string_view line = lineAt(low + (high - low) / 2, start);
        if (cell(line) < function) {
            // Behind all rows of that function.
            size_t next = body_.find('\n', start);
            while (next < body_.size() - 1 && body_[next + 1] == '\t')
                next = body_.find('\n', next + 1);
            low = next == std::string_view::npos ? high : std::min(next + 1, high);
        } else {
            high = start;
        }
    }
    std::vector<Row> rows;
    for (std::string_view rest = body_.substr(low); !rest.empty();) {
        std::string_view line = firstLine(rest);
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        const std::string_view name = cell(line);
        if (rows.empty() ? name != function : !name.empty())
            break;
        std::string_view take = cell(line);
        Row row;
        row.throughStatic = take.starts_with(kThroughStatic);
        take.remove_prefix(row.throughStatic ? 1 : 0);
        row.take = {take.empty() ? '\0' : take.front(), take.size() > 1 ? take[1] : '\0'};
        row.lock = cell(line);
        row.kernels = cell(line);
        row.where = cell(line);
        rows.push_back(row);
    }
    return rows;
}

/// The kernels that answer for an era: the one that is asked for, else all within and the nearest around it.
KernelLocks::Choice KernelLocks::choose(const Era& era) const
{
    Choice choice;
    const Kernel* before = nullptr;
    const Kernel* behind = nullptr;
    for (const Kernel& kernel : kernels_) {
        const Era of = Era::of(kernel.version);
        if (of.covers(era))
            return {.kernels = {&kernel}, .exact = true};
        if (of.overlaps(era))
            choice.kernels.push_back(&kernel);
        else if (era.since && kernel.version < *era.since)
            before = &kernel;
        else if (behind == nullptr)
            behind = &kernel;
    }
    // An open end means that the other one is sure, and there are kernels enough.
    if (!era.since || !era.until)
        return choice;
    // Older than all that is known: too much was different then.
    if (before == nullptr && choice.kernels.empty())
        return {};
    if (before != nullptr)
        choice.kernels.insert(choice.kernels.begin(), before);
    if (behind != nullptr)
        choice.kernels.push_back(behind);
    return choice;
}

namespace {

/// Adds up what kernels say of one call.
class Votes {
public:
    Votes(bool exact, const Era& era)
        : era_(era)
        , exact_(exact)
    {
    }

    template <class Row> void add(const KernelVersion& version, const std::vector<const Row*>& rows)
    {
        if (rows.empty())
            return;
        kernels_.push_back(toString(version));
        near_ = near_ || isNear(version, era_);
        for (const Row* row : rows) {
            unknown_ = unknown_ || row->lock == kUnknownLock;
            locks_.insert(fullName(row->lock));
            where_ = row->where;
        }
    }

    std::optional<KernelLock> result() const
    {
        if (locks_.empty() || unknown_ || !enough() || locks_.size() > kMostNames)
            return std::nullopt;
        return KernelLock{.locks = {locks_.begin(), locks_.end()}, .kernels = kernelsText(), .where = where_};
    }

private:
    std::string kernelsText() const
    {
        if (exact_)
            return kernels_.front();
        if (kernels_.size() == 1)
            return fmt::format("from {}", kernels_.front());
        if (kernels_.size() == 2)
            return fmt::format("from {} and {}", kernels_.front(), kernels_.back());
        return fmt::format("from {} to {}", kernels_.front(), kernels_.back());
    }

    /// Two kernels that agree, or one that is near.
    bool enough() const { return exact_ || near_ || kernels_.size() > 1; }

    const Era& era_;
    bool exact_;
    bool near_ = false;
    bool unknown_ = false;
    std::set<std::string> locks_;
    std::vector<std::string> kernels_;
    std::string_view where_;
};

} // namespace

std::optional<KernelLock> KernelLocks::takenBy(std::string_view function, LockTake take, const Era& era) const
{
    return takenBy(function, std::span(&take, 1), era);
}

std::optional<KernelLock> KernelLocks::takenBy(
    std::string_view function, std::span<const LockTake> takes, const Era& era) const
{
    const std::vector<Row> rows = rowsOf(function);
    if (rows.empty())
        return std::nullopt;
    const Choice choice = choose(era);
    Votes votes(choice.exact, era);
    for (const Kernel* kernel : choice.kernels) {
        std::vector<const Row*> fitting;
        for (const LockTake take : takes) {
            const std::vector<const Row*> some = rowsFor(rows, *kernel, take, choice.exact);
            fitting.insert(fitting.end(), some.begin(), some.end());
        }
        votes.add(kernel->version, fitting);
    }
    return votes.result();
}

/// The rows that one kernel has for one kind of call.
std::vector<const KernelLocks::Row*> KernelLocks::rowsFor(
    const std::vector<Row>& rows, const Kernel& kernel, LockTake take, bool exact)
{
    std::vector<const Row*> fitting;
    for (const Row& row : rows)
        if (row.fits(kernel, take.kind))
            fitting.push_back(&row);
    fitting = speaking(std::move(fitting), take);
    // In another kernel the helper that takes the lock with the last reference may have been inlined.
    for (const Row& row : rows)
        if (!exact && take.kind == 's' && !fitting.empty() && row.fits(kernel, 'd'))
            fitting.push_back(&row);
    return fitting;
}

std::optional<KernelLock> KernelLocks::takenIn(std::span<const std::string_view> chain, const Era& era) const
{
    std::optional<LockTake> take;
    for (const std::string_view symbol : chain) {
        const std::string_view function = normalisedView(symbol);
        const std::optional<LockTake> here = lockTakeOf(function);
        // A slow path below its wrapper; the wrapper says more.
        if (here && (!take || here->kind == take->kind)) {
            take = here;
            continue;
        }
        if (take && !here)
            return takenBy(function, *take, era);
        if (take && here) {
            // A lock inside of another one (`rwsem_down_write_slowpath` takes a spin lock), or a lock of a
            // reference count, which the count's owner has a name for.
            if (here->kind == 'l') {
                take = here;
                continue;
            }
            return takenBy(function, *take, era);
        }
    }
    return std::nullopt;
}

std::vector<KernelLock> KernelLocks::allOf(std::string_view function, const Era& era) const
{
    std::vector<KernelLock> found;
    const std::vector<Row> rows = rowsOf(function);
    const Choice choice = rows.empty() ? Choice() : choose(era);
    for (const Row& row : rows) {
        if (row.throughStatic || row.lock == kUnknownLock)
            continue;
        const std::string name = fullName(row.lock);
        if (std::ranges::any_of(found, [&](const KernelLock& one) { return one.locks.front() == name; }))
            continue;
        Votes votes(choice.exact, era);
        for (const Kernel* kernel : choice.kernels)
            if (row.fits(*kernel, row.take.kind))
                votes.add(kernel->version, std::vector<const Row*>{&row});
        if (auto lock = votes.result())
            found.push_back(*std::move(lock));
    }
    return found;
}

std::optional<KernelLock> KernelLocks::ofStub(std::string_view symbol, const Era& era) const
{
    const std::vector<Row> rows = rowsOf(symbol);
    const Choice choice = rows.empty() ? Choice() : choose(era);
    Votes votes(choice.exact, era);
    for (const Kernel* kernel : choice.kernels) {
        std::vector<const Row*> fitting;
        for (const Row& row : rows)
            if (row.fits(*kernel, row.take.kind))
                fitting.push_back(&row);
        votes.add(kernel->version, fitting);
    }
    std::optional<KernelLock> lock = votes.result();
    return lock && lock->locks.size() == 1 ? lock : std::nullopt;
}

} // namespace whichlock
