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

int EventTable::placeInSample(const PerfAttr& attr)
{
    constexpr uint64_t kBefore = sample_bit::kIp | sample_bit::kTid | sample_bit::kTime | sample_bit::kAddr;
    if ((attr.sampleType & sample_bit::kIdentifier) != 0)
        return 0;
    if ((attr.sampleType & sample_bit::kId) == 0)
        return -1;
    return std::popcount(attr.sampleType & kBefore);
}

int EventTable::placeInTrailer(const PerfAttr& attr)
{
    if (!attr.has(PerfAttrFlag::SampleIdAll))
        return -1;
    if ((attr.sampleType & sample_bit::kIdentifier) != 0)
        return 0;
    if ((attr.sampleType & sample_bit::kId) == 0)
        return -1;
    return std::popcount(attr.sampleType & (sample_bit::kStreamId | sample_bit::kCpu));
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
    isChanged_.push_back(false);
    changed(index);
    byConfig_.emplace(attr.config, index);
    if (const int place = placeInSample(attr); place >= 0) {
        usedInSample_[static_cast<size_t>(place)] = true;
    } else {
        ++withoutId_;
        firstWithoutId_ = std::min(firstWithoutId_, index);
    }
    if (const int place = placeInTrailer(attr); place >= 0)
        usedInTrailer_[static_cast<size_t>(place)] = true;
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

uint32_t EventTable::find(uint64_t id)
{
    Slot& slot = cache_[id % kCacheSlots];
    if (slot.event != kNoEvent && slot.id == id)
        return slot.event;
    const auto found = byId_.find(id);
    if (found == byId_.end())
        return kNoEvent;
    slot = {id, found->second};
    return found->second;
}

uint32_t EventTable::eventOfSample(std::string_view payload, ByteOrder order)
{
    if (events_.size() <= 1)
        return events_.empty() ? kNoEvent : 0;
    // Events may differ in where they have their id: the event that is found there must agree.
    for (size_t place = 0; place < kIdPlaces && (place + 1) * kWord <= payload.size(); ++place) {
        if (!usedInSample_[place])
            continue;
        const uint32_t event = find(loadInteger<uint64_t>(payload.data() + place * kWord, order));
        if (event != kNoEvent && placeInSample(events_[event].attr) == static_cast<int>(place))
            return event;
    }
    return firstWithoutId_;
}

uint32_t EventTable::eventOfTrailer(std::string_view payload, ByteOrder order)
{
    if (events_.size() <= 1)
        return events_.empty() ? kNoEvent : 0;
    uint64_t id = UINT64_MAX;
    for (size_t place = 0; place < kIdPlaces && (place + 1) * kWord <= payload.size(); ++place) {
        if (!usedInTrailer_[place])
            continue;
        id = loadInteger<uint64_t>(payload.data() + payload.size() - (place + 1) * kWord, order);
        const uint32_t event = find(id);
        if (event != kNoEvent && placeInTrailer(events_[event].attr) == static_cast<int>(place))
            return event;
    }
    // Records that perf made up have an id of zero, and the layout of the first event.
    return sameLayout_ || id == 0 ? 0 : kNoEvent;
}

uint64_t EventTable::timeOfSample(std::string_view payload, ByteOrder order)
{
    constexpr uint64_t kBefore = sample_bit::kIdentifier | sample_bit::kIp | sample_bit::kTid;
    const uint32_t event = sameLayout_ && !events_.empty() ? 0 : eventOfSample(payload, order);
    if (event == kNoEvent || (events_[event].attr.sampleType & sample_bit::kTime) == 0)
        return 0;
    const size_t at = kWord * static_cast<size_t>(std::popcount(events_[event].attr.sampleType & kBefore));
    return at + kWord <= payload.size() ? loadInteger<uint64_t>(payload.data() + at, order) : 0;
}

uint64_t EventTable::timeInTrailer(std::string_view payload, ByteOrder order)
{
    constexpr uint64_t kBehind =
        sample_bit::kId | sample_bit::kStreamId | sample_bit::kCpu | sample_bit::kIdentifier;
    const uint32_t event = eventOfTrailer(payload, order);
    if (event == kNoEvent)
        return 0;
    const PerfAttr& attr = events_[event].attr;
    if (!attr.has(PerfAttrFlag::SampleIdAll) || (attr.sampleType & sample_bit::kTime) == 0)
        return 0;
    const size_t fromEnd = kWord * static_cast<size_t>(1 + std::popcount(attr.sampleType & kBehind));
    return fromEnd <= payload.size() ? loadInteger<uint64_t>(payload.data() + payload.size() - fromEnd, order)
                                     : 0;
}

} // namespace whichlock
