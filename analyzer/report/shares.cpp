// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/shares.h"

#include <cmath>
#include <limits>

namespace whichlock {
namespace {

__extension__ using Wide = __int128;

std::optional<FixedPoint> narrow(Wide value)
{
    if (value > std::numeric_limits<int64_t>::max() || value < std::numeric_limits<int64_t>::min())
        return std::nullopt;
    return FixedPoint{static_cast<int64_t>(value)};
}

/// Rounded to nearest, away from zero on a tie; b > 0 or b < 0.
Wide divideRounded(Wide a, Wide b)
{
    if (b < 0) {
        a = -a;
        b = -b;
    }
    return a >= 0 ? (a + b / 2) / b : -((-a + b / 2) / b);
}

} // namespace

SectionWhole::SectionWhole(const Section& section, const Weight& listed)
    : listed_(listed)
{
    if (section.total && *section.total >= listed.value) {
        total_ = section.total;
        basis_ = "printed";
    } else if (section.sharesPrinted && !section.total) {
        byPrintedShares_ = true;
        basis_ = "printed percentages";
    } else {
        total_ = listed.value;
        basis_ = section.samples != 0 ? "samples" : "sum of the listed rows";
    }
}

Weight SectionWhole::unlisted() const
{
    Weight rest;
    if (total_)
        rest.value = *total_ - listed_.value;
    else
        rest.printed.ppb = std::max<int64_t>(0, Share::kWhole - listed_.printed.ppb);
    return rest;
}

Part SectionWhole::part(const Weight& weight) const
{
    Part part{.value = weight.value, .samples = weight.samples, .ofTotal = {}, .ofBusy = {}};
    part.ofTotal = total_ ? shareOf(weight.value, *total_) : weight.printed;
    return part;
}

Weight SectionWhole::without(const Weight& idle) const
{
    Weight rest;
    if (total_)
        rest.value = *total_ - std::min(idle.value, *total_);
    else
        rest.value = listed_.value - std::min(idle.value, listed_.value);
    rest.printed.ppb = std::max<int64_t>(0, Share::kWhole - idle.printed.ppb);
    return rest;
}

std::optional<Share> SectionWhole::shareWithout(const Weight& part, const Weight& idle) const
{
    const Weight rest = without(idle);
    if (byPrintedShares_) {
        if (rest.printed.ppb == 0)
            return std::nullopt;
        return shareOf(static_cast<uint64_t>(std::max<int64_t>(0, part.printed.ppb)),
            static_cast<uint64_t>(rest.printed.ppb));
    }
    return rest.value == 0 ? std::nullopt : std::optional(shareOf(part.value, rest.value));
}

void SectionWhole::addBusyShare(Part& part, const Weight& weight, const Weight& idle) const
{
    part.ofBusy = shareWithout(weight, idle);
}

ShareInterval wilsonInterval(uint64_t hits, uint64_t samples)
{
    if (samples == 0)
        return {};
    constexpr double kZ = 1.959964; // 97.5 % quantile of the normal distribution
    const auto n = static_cast<double>(samples);
    const double p = static_cast<double>(hits) / n;
    const double centre = (p + kZ * kZ / (2 * n)) / (1 + kZ * kZ / n);
    const double half = kZ * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n)) / (1 + kZ * kZ / n);
    const auto share = [](double value) {
        return Share{static_cast<int64_t>(std::llround(std::min(1.0, std::max(0.0, value)) * Share::kWhole))};
    };
    return {share(centre - half), share(centre + half)};
}

std::optional<FixedPoint> meanOf(
    const std::vector<std::vector<int64_t>>& rows, size_t column, size_t first, size_t last)
{
    Wide sum = 0;
    int64_t count = 0;
    for (size_t row = first; row < last; ++row) {
        if (column >= rows[row].size() || rows[row][column] == kNoCounter)
            continue;
        sum += rows[row][column];
        ++count;
    }
    return count == 0 ? std::nullopt : narrow(divideRounded(sum * FixedPoint::kScale, count));
}

std::optional<FixedPoint> fixedFromCount(uint64_t count)
{
    return narrow(static_cast<Wide>(count) * FixedPoint::kScale);
}

std::optional<FixedPoint> quotient(FixedPoint a, FixedPoint b)
{
    if (b.millionths == 0)
        return std::nullopt;
    return narrow(divideRounded(static_cast<Wide>(a.millionths) * FixedPoint::kScale, b.millionths));
}

std::optional<FixedPoint> changePercent(FixedPoint before, FixedPoint after)
{
    if (before.millionths == 0)
        return std::nullopt;
    constexpr int64_t kHundred = 100;
    const Wide difference = static_cast<Wide>(after.millionths) - before.millionths;
    return narrow(divideRounded(difference * kHundred * FixedPoint::kScale, before.millionths));
}

} // namespace whichlock
