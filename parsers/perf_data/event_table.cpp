// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/perf_data/event_table.h"

#include <algorithm>
#include <utility>

namespace whichlock {
namespace {

constexpr size_t kWord = sizeof(uint64_t);

/// Whether samples and trailers of both events hold the same fields of the same length.
bool layoutsAgree(const PerfAttr& a, const PerfAttr& b)
{
    return a.sampleType == b.sampleType && a.readFormat == b.readFormat
        && a.branchSampleType == b.branchSampleType && a.sampleRegsUser == b.sampleRegsUser
        && a.sampleRegsIntr == b.sampleRegsIntr
        && a.has(PerfAttrFlag::SampleIdAll) == b.has(PerfAttrFlag::SampleIdAll);
}

} // namespace

EventTable::EventTable() = default;

EventTable::Layout::Layout(const PerfAttr& attr)
{
    constexpr uint64_t kBeforeTime = sample_bit::kIdentifier | sample_bit::kIp | sample_bit::kTid;
    constexpr uint64_t kBeforeId = sample_bit::kIp | sample_bit::kTid | sample_bit::kTime | sample_bit::kAddr;
    constexpr uint64_t kBehindId = sample_bit::kStreamId | sample_bit::kCpu;
    constexpr uint64_t kBehindTime = kBehindId | sample_bit::kId | sample_bit::kIdentifier;
    const uint64_t type = attr.sampleType;
    const bool hasTrailer = attr.has(PerfAttrFlag::SampleIdAll);
    if ((type & sample_bit::kIdentifier) != 0) {
        idInSample = 0;
        idInTrailer = hasTrailer ? 0 : -1;
    } else if ((type & sample_bit::kId) != 0) {
        idInSample = std::popcount(type & kBeforeId);
        idInTrailer = hasTrailer ? std::popcount(type & kBehindId) : -1;
    }
    if ((type & sample_bit::kTime) != 0) {
        timeInSample = std::popcount(type & kBeforeTime);
        timeInTrailer = hasTrailer ? std::popcount(type & kBehindTime) : -1;
    }
}

uint32_t EventTable::add(const PerfAttr& attr)
{
    const auto index = static_cast<uint32_t>(events_.size());
    PerfEvent event;
    event.index = index;
    event.attr = attr;
    event.name = synthesizedEventName(attr, pmus_);
    if (!events_.empty())
        sameLayout_ = sameLayout_ && layoutsAgree(events_.front().attr, attr);
    events_.push_back(std::move(event));
    const Layout& layout = layouts_.emplace_back(attr);
    isChanged_.push_back(false);
    changed(index);
    byConfig_.emplace(attr.config, index);
    if (layout.idInSample >= 0) {
        usedInSample_[static_cast<size_t>(layout.idInSample)] = true;
    } else {
        ++withoutId_;
        firstWithoutId_ = std::min(firstWithoutId_, index);
    }
    if (layout.idInTrailer >= 0)
        usedInTrailer_[static_cast<size_t>(layout.idInTrailer)] = true;
    if (const auto named = namesByConfig_.find(attr.config); named != namesByConfig_.end())
        name(index, named->second, PerfNameOrigin::EventTypes);
    settleFormat(events_.back());
    return index;
}

void EventTable::addId(uint32_t event, uint64_t id)
{
    if (!byId_.try_emplace(id, event).second)
        return;
    events_[event].ids.push_back(id);
    if (const auto named = namesById_.find(id); named != namesById_.end())
        name(event, named->second, PerfNameOrigin::Described);
}

void EventTable::changed(uint32_t event)
{
    if (!isChanged_[event])
        changed_.push_back(event);
    isChanged_[event] = true;
}

std::vector<uint32_t> EventTable::takeChanged()
{
    for (const uint32_t event : changed_)
        isChanged_[event] = false;
    return std::exchange(changed_, {});
}

bool EventTable::name(uint32_t event, std::string_view name, PerfNameOrigin origin)
{
    PerfEvent& named = events_[event];
    if (name.empty() || origin < named.nameOrigin || named.name == name)
        return false;
    named.name = name;
    named.nameOrigin = origin;
    changed(event);
    return true;
}

void EventTable::nameLater(uint64_t id, std::string_view eventName)
{
    namesById_.try_emplace(id, eventName);
}

void EventTable::nameByConfig(uint64_t config, std::string_view eventName)
{
    if (!namesByConfig_.try_emplace(config, eventName).second)
        return;
    const auto [begin, end] = byConfig_.equal_range(config);
    for (auto event = begin; event != end; ++event)
        name(event->second, eventName, PerfNameOrigin::EventTypes);
}

bool EventTable::setTracingData(TracingData data)
{
    if (hasTracing_)
        return false;
    hasTracing_ = true;
    tracing_ = std::move(data);
    for (PerfEvent& event : events_)
        settleFormat(event);
    return true;
}

void EventTable::settleFormat(PerfEvent& event)
{
    if (event.attr.type != perf_type::kTracepoint)
        return;
    const auto found = tracing_.formats.find(event.attr.config);
    if (found == tracing_.formats.end())
        return;
    event.format = found->second;
    name(event.index, event.format->system + ':' + event.format->name, PerfNameOrigin::TracingData);
    changed(event.index);
}

void EventTable::setPmus(const std::vector<PerfPmu>& pmus)
{
    if (!pmus_.empty())
        return;
    pmus_ = pmus;
    for (const PerfEvent& event : events_) {
        if (event.nameOrigin == PerfNameOrigin::Synthesized)
            name(event.index, synthesizedEventName(event.attr, pmus_), PerfNameOrigin::Synthesized);
    }
}

void EventTable::settleFormats()
{
    for (const uint32_t index : changed_) {
        PerfEvent& event = events_[index];
        if (event.attr.type == perf_type::kTracepoint && event.format == nullptr)
            event.format = builtInTracepointFormat(event.name);
    }
}

uint32_t EventTable::find(uint64_t id, Cache& cache) const
{
    Slot& slot = cache[id % kCacheSlots];
    if (slot.event != kNoEvent && slot.id == id)
        return slot.event;
    const auto found = byId_.find(id);
    if (found == byId_.end())
        return kNoEvent;
    slot = {id, found->second};
    return found->second;
}

uint32_t EventTable::eventOfSample(std::string_view payload, ByteOrder order, Cache& cache) const
{
    if (events_.size() <= 1)
        return events_.empty() ? kNoEvent : 0;
    // Events may differ in where they have their id: the event that is found there must agree.
    for (size_t place = 0; place < kIdPlaces && (place + 1) * kWord <= payload.size(); ++place) {
        if (!usedInSample_[place])
            continue;
        const uint32_t event = find(loadInteger<uint64_t>(payload.data() + place * kWord, order), cache);
        if (event != kNoEvent && layouts_[event].idInSample == static_cast<int>(place))
            return event;
    }
    return firstWithoutId_;
}

uint32_t EventTable::eventOfTrailer(std::string_view payload, ByteOrder order, Cache& cache) const
{
    if (events_.size() <= 1)
        return events_.empty() ? kNoEvent : 0;
    uint64_t id = UINT64_MAX;
    for (size_t place = 0; place < kIdPlaces && (place + 1) * kWord <= payload.size(); ++place) {
        if (!usedInTrailer_[place])
            continue;
        id = loadInteger<uint64_t>(payload.data() + payload.size() - (place + 1) * kWord, order);
        const uint32_t event = find(id, cache);
        if (event != kNoEvent && layouts_[event].idInTrailer == static_cast<int>(place))
            return event;
    }
    // Records that perf made up have an id of zero, and the layout of the first event.
    return sameLayout_ || id == 0 ? 0 : kNoEvent;
}

uint64_t EventTable::timeOfSample(std::string_view payload, ByteOrder order)
{
    const uint32_t event = sameLayout_ && !events_.empty() ? 0 : eventOfSample(payload, order, timeCache_);
    const int place = event == kNoEvent ? -1 : layouts_[event].timeInSample;
    const size_t at = kWord * static_cast<size_t>(place);
    if (place < 0 || at + kWord > payload.size())
        return 0;
    return loadInteger<uint64_t>(payload.data() + at, order);
}

uint64_t EventTable::timeInTrailer(std::string_view payload, ByteOrder order)
{
    const uint32_t event = eventOfTrailer(payload, order, timeCache_);
    const int place = event == kNoEvent ? -1 : layouts_[event].timeInTrailer;
    const size_t fromEnd = kWord * (static_cast<size_t>(place) + 1);
    if (place < 0 || fromEnd > payload.size())
        return 0;
    return loadInteger<uint64_t>(payload.data() + payload.size() - fromEnd, order);
}

} // namespace whichlock
