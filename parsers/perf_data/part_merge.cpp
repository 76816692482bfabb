// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/perf_data/part_merge.h"

#include "parsers/input/mapped_file.h"

#include <algorithm>
#include <memory>

namespace whichlock {

PartReader::PartReader(PerfDataState& state, std::string_view bytes, uint64_t offset)
    : stream_(state, true)
    , bytes_(bytes)
    , offset_(offset)
{
}

bool PartReader::step()
{
    const std::string_view piece = bytes_.substr(done_, slice_);
    willRead(piece);
    const size_t taken = stream_.take(piece, offset_ + done_);
    done_ += taken;
    // One record with the data behind it may be longer than a slice.
    slice_ = taken == 0 ? 2 * slice_ : kSliceBytes;
    const bool all = taken == 0 && done_ + piece.size() == bytes_.size();
    if (done_ < bytes_.size() && !stream_.stopped() && !all)
        return true;
    stream_.finish(bytes_.substr(done_), offset_ + done_);
    return false;
}

namespace {

/// One part with those of its records that are in order already.
class OrderedPart {
public:
    OrderedPart(PerfDataState& state, const RecordingPart& part)
        : state_(state)
        , part_(part)
        , order_([this](uint64_t time, const HeldRecord& record) {
            ready_.push_back({time, record});
        })
        , reader_(state, part.bytes, part.offset)
    {
    }
    OrderedPart(const OrderedPart&) = delete;
    OrderedPart& operator=(const OrderedPart&) = delete;

    struct Ready {
        uint64_t time = 0;
        HeldRecord record{};
    };

    /// The next record of this part; null at its end. Reads on until there is one.
    const Ready* next()
    {
        if (at_ == ready_.size()) {
            ready_.clear();
            at_ = 0;
        }
        while (ready_.empty() && !ended_) {
            enter();
            state_.held = &order_;
            ended_ = !reader_.step();
            if (ended_)
                order_.finish();
        }
        return at_ < ready_.size() ? &ready_[at_] : nullptr;
    }
    void pass() { ++at_; }
    /// What is delivered or found damaged from now on is of this part.
    void enter()
    {
        if (state_.part == part_.number && state_.damage.inputName() == part_.name)
            return;
        state_.part = part_.number;
        state_.damage.setInputName(part_.name);
    }
    uint64_t bytesDone() const { return reader_.bytesDone(); }

private:
    PerfDataState& state_;
    const RecordingPart& part_;
    RecordOrder order_;
    PartReader reader_;
    std::vector<Ready> ready_;
    size_t at_ = 0;
    bool ended_ = false;
};

} // namespace

bool deliverByTime(
    PerfDataState& state, std::span<const RecordingPart> parts, const ProgressFunction& progress)
{
    struct Next {
        uint64_t time = 0;
        size_t part = 0;
    };
    const auto later = [](const Next& a, const Next& b) {
        return a.time != b.time ? a.time > b.time : a.part > b.part;
    };
    uint64_t total = 0;
    std::vector<std::unique_ptr<OrderedPart>> ordered;
    for (const RecordingPart& part : parts) {
        total += part.bytes.size();
        ordered.push_back(std::make_unique<OrderedPart>(state, part));
    }
    std::vector<Next> heap;
    const auto push = [&](size_t part) {
        if (const OrderedPart::Ready* const ready = ordered[part]->next()) {
            heap.push_back({ready->time, part});
            std::push_heap(heap.begin(), heap.end(), later);
        }
    };
    for (size_t part = 0; part < ordered.size(); ++part)
        push(part);
    constexpr uint64_t kRecordsAtOnce = 65536;
    for (uint64_t delivered = 0; !heap.empty(); ++delivered) {
        if (progress && delivered % kRecordsAtOnce == 0) {
            uint64_t done = 0;
            for (const auto& part : ordered)
                done += part->bytesDone();
            if (!progress(done, total))
                return false;
        }
        std::pop_heap(heap.begin(), heap.end(), later);
        const size_t earliest = heap.back().part;
        heap.pop_back();
        OrderedPart& part = *ordered[earliest];
        part.enter();
        deliverHeldRecord(state, part.next()->record);
        part.pass();
        push(earliest);
    }
    return true;
}

} // namespace whichlock
