// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/perf_data/record_order.h"

#include <algorithm>
#include <iterator>

namespace whichlock {

const char* RecordArena::keep(std::string_view bytes)
{
    if (bytes.size() > current_.left) {
        static_assert(kBlockBytes > UINT16_MAX, "a record fits into a block");
        if (spare_.empty()) {
            current_.blocks.push_back(std::make_unique<char[]>(kBlockBytes));
        } else {
            current_.blocks.push_back(std::move(spare_.back()));
            spare_.pop_back();
        }
        current_.left = kBlockBytes;
    }
    char* const at = current_.blocks.back().get() + (kBlockBytes - current_.left);
    std::copy(bytes.begin(), bytes.end(), at);
    current_.left -= bytes.size();
    current_.bytes += bytes.size();
    return at;
}

void RecordArena::roundEnded()
{
    std::move(previous_.blocks.begin(), previous_.blocks.end(), std::back_inserter(spare_));
    previous_ = std::exchange(current_, {});
}

void RecordOrder::add(uint64_t time, HeldRecord record, bool bytesStay)
{
    if (!bytesStay)
        record.bytes = arena_.keep({record.bytes, record.size});
    order_.add(time, record);
    if (++thisRound_ >= kMostRecords || arena_.bytesThisRound() >= kMostBytes)
        roundEnded();
}

void RecordOrder::roundEnded()
{
    thisRound_ = 0;
    order_.roundEnded(deliver_);
    arena_.roundEnded();
}

void RecordOrder::finish()
{
    order_.releaseAll(deliver_);
}

} // namespace whichlock
