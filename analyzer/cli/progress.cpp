// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/cli/progress.h"

#include "analyzer/cli/print.h"
#include "analyzer/report/value_format.h"

#include <chrono>
#include <unistd.h>

namespace whichlock::cli {
namespace {

constexpr auto kQuietAtFirst = std::chrono::seconds(1);
constexpr auto kBetween = std::chrono::milliseconds(200);
constexpr size_t kColumns = 78;
constexpr const char* kWipe = "\r\033[K";

std::string amount(uint64_t done, uint64_t total)
{
    constexpr uint64_t kMega = 1'000'000;
    return total != 0 ? fmt::format("{} of {} MB", done / kMega, total / kMega)
                      : fmt::format("{} MB", done / kMega);
}

} // namespace

Progress::Progress(std::FILE* stream)
    : stream_(stream)
{
    if (::isatty(::fileno(stream)) == 1)
        printer_ = std::thread([this] { run(); });
}

Progress::~Progress()
{
    finish();
}

void Progress::watch(Source& source)
{
    if (!printer_.joinable())
        return;
    if (const std::lock_guard lock(mutex_); what_.empty())
        what_ = "reading " + source.name();
    source.setProgress([this, name = source.name()](uint64_t done, uint64_t total) {
        step(fmt::format("{}: {}", name, amount(done, total)));
        return true;
    });
}

void Progress::step(const std::string& what)
{
    const std::lock_guard lock(mutex_);
    what_ = what;
}

void Progress::run()
{
    std::unique_lock lock(mutex_);
    const auto isFinished = [this] { return finished_; };
    bool shown = false;
    for (auto wait = std::chrono::milliseconds(kQuietAtFirst); !changed_.wait_for(lock, wait, isFinished);
         wait = kBetween) {
        if (what_.empty())
            continue;
        print(stream_, "{}{}", kWipe, elideMiddle(printable(what_), kColumns)); // a line that wraps stays
        std::fflush(stream_);
        shown = true;
    }
    if (shown)
        print(stream_, "{}", kWipe);
    std::fflush(stream_);
}

void Progress::finish()
{
    if (!printer_.joinable())
        return;
    {
        const std::lock_guard lock(mutex_);
        finished_ = true;
    }
    changed_.notify_one();
    printer_.join();
}

} // namespace whichlock::cli
