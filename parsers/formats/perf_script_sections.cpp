// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/perf_script_sections.h"

#include <fmt/format.h>

#include <algorithm>

namespace whichlock::perfscript {
namespace {

constexpr size_t kMostSections = 256;

void setQuantity(SectionRecord& record, EventClass eventClass, bool hasPeriod)
{
    record.kind = SectionKind::CpuProfile;
    record.quantity = QuantityKind::Cpu;
    record.unit = hasPeriod ? Unit::Events : Unit::Samples;
    switch (eventClass) {
    case EventClass::Clock:
        record.unit = hasPeriod ? Unit::Nanoseconds : Unit::Samples;
        break;
    case EventClass::Hardware:
        break;
    case EventClass::Happening:
        record.quantity = QuantityKind::Count;
        break;
    case EventClass::OffCpu:
        record.kind = SectionKind::WaitProfile;
        record.quantity = QuantityKind::Wait;
        record.unit = hasPeriod ? Unit::Nanoseconds : Unit::Samples;
        break;
    case EventClass::Tracepoint:
        record.kind = SectionKind::LockTrace;
        record.quantity = QuantityKind::Count;
        record.unit = Unit::Events;
        break;
    }
}

} // namespace

bool EventSections::has(std::string_view event) const
{
    return std::any_of(
        sections_.begin(), sections_.end(), [&](const Section& section) { return section.event == event; });
}

const SectionHandle* EventSections::of(const Header& header, const TextLine& line)
{
    const bool hasPeriod = header.period.has_value();
    const auto isIt = [&](const Section& section) {
        return section.event == header.event && section.hasPeriod == hasPeriod;
    };
    if (last_ < sections_.size() && isIt(sections_[last_]))
        return &sections_[last_].handle;
    for (last_ = 0; last_ < sections_.size(); ++last_) {
        if (isIt(sections_[last_]))
            return &sections_[last_].handle;
    }
    if (sections_.size() == kMostSections) {
        tooMany_.add(context_, line, {});
        return nullptr;
    }
    return begin(header, line);
}

const SectionHandle* EventSections::begin(const Header& header, const TextLine& line)
{
    const bool hasPeriod = header.period.has_value();
    for (const Section& section : sections_) {
        if (section.event == header.event)
            context_.report(DiagnosticCode::PeriodsMixed,
                fmt::format(
                    "samples of {} come with and without a period; they were kept apart", header.event),
                line);
    }
    SectionRecord record = context_.sectionAt(line, "perf-script");
    record.event = header.event;
    if (record.command.empty())
        record.command = command_;
    const EventClass eventClass = classOf(header);
    setQuantity(record, eventClass, hasPeriod);
    if (eventClass == EventClass::Tracepoint) {
        notTimedCount_.add(context_, line, {});
        notTimed_ += fmt::format("{}{}", notTimed_.empty() ? "" : ", ", header.event);
    }
    sections_.push_back({std::string(header.event), hasPeriod, context_.sink.section(record)});
    return &sections_.back().handle;
}

void EventSections::finish(const std::string& inputName)
{
    constexpr size_t kMostNameBytes = 200;
    if (notTimed_.size() > kMostNameBytes)
        notTimed_ = notTimed_.substr(0, notTimed_.rfind(',', kMostNameBytes)) + " and others";
    notTimedCount_.finish(context_, inputName, fmt::format("{} were counted, not timed", notTimed_));
    tooMany_.finish(context_, inputName,
        fmt::format("there are more than {} events; {} samples of the others were skipped", kMostSections,
            tooMany_.count()));
}

} // namespace whichlock::perfscript
