// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/cli/progress.h"

#include "analyzer/cli/print.h"
#include "analyzer/report/value_format.h"

#include <unistd.h>

namespace whichlock::cli {
namespace {

constexpr auto kQuietAtFirst = std::chrono::seconds(1);
constexpr auto kBetween = std::chrono::milliseconds(200);

} // namespace

Progress::Progress(std::FILE* stream)
    : stream_(stream)
    , enabled_(::isatty(::fileno(stream)) == 1)
    , next_(Clock::now() + kQuietAtFirst)
{
}

void Progress::watch(Source& source)
{
    if (!enabled_)
        return;
    source.setProgress([this, name = source.name()](uint64_t done, uint64_t total) {
        show(printable(name), done, total);
        return true;
    });
}

void Progress::show(const std::string& name, uint64_t done, uint64_t total)
{
    const auto now = Clock::now();
    if (now < next_)
        return;
    next_ = now + kBetween;
    constexpr uint64_t kMega = 1'000'000;
    if (total != 0)
        print(stream_, "\r\033[K{}: {} of {} MB", name, done / kMega, total / kMega);
    else
        print(stream_, "\r\033[K{}: {} MB", name, done / kMega);
    std::fflush(stream_);
    shown_ = true;
}

void Progress::finish()
{
    if (shown_)
        print(stream_, "\r\033[K");
}

} // namespace whichlock::cli
