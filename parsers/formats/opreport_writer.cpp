// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/opreport_writer.h"

#include "parsers/input/text_scan.h"

#include <fmt/format.h>

#include <algorithm>

namespace whichlock::opreport {
namespace {

/// What the event of a column is called; two events of one name are told apart by their unit masks.
std::string eventName(const Head& head, size_t index, size_t count)
{
    if (head.events.size() == count) {
        const Event& event = head.events[index];
        const auto sameName = std::count_if(head.events.begin(), head.events.end(),
            [&](const Event& other) { return other.name == event.name; });
        return sameName > 1 && !event.unitMask.empty() ? event.name + ", unit mask " + event.unitMask
                                                       : event.name;
    }
    const std::string shared = head.events.size() == 1 ? head.events.front().name
        : !head.timer.empty()                          ? "TIMER"
                                                       : "";
    if (count > 1 && head.classes.size() == count)
        return shared.empty() ? head.classes[index] : shared + ", " + head.classes[index];
    if (count > 1)
        return fmt::format("{}{}column {} of {}", shared, shared.empty() ? "" : ", ", index + 1, count);
    return shared;
}

void reportSameEvents(const Head& head, const TextLine& line, BlockContext& context)
{
    for (size_t i = 1; i < head.events.size(); ++i) {
        for (size_t j = 0; j < i; ++j) {
            if (head.events[i].name != head.events[j].name)
                continue;
            context.report(DiagnosticCode::SameEventTwice,
                fmt::format(
                    "the event {} is counted twice, with the unit masks {} and {}; each has a section",
                    head.events[i].name, head.events[j].unitMask, head.events[i].unitMask),
                line);
            return;
        }
    }
}

/// `vmlinux-2.6.16.5` of a path to it, or empty: it tells the kernel.
std::string_view kernelImage(std::string_view image)
{
    const size_t slash = image.rfind('/');
    const std::string_view name = slash == std::string_view::npos ? image : image.substr(slash + 1);
    return name.starts_with("vmlinux") ? name : std::string_view();
}

} // namespace

ListWriter::ListWriter(const Head& head, const Layout& layout, const TextLine& first, BlockContext& context)
    : context_(context)
    , events_(layout.events)
{
    for (size_t i = 0; i < events_.size(); ++i) {
        SectionRecord record = context.sectionAt(first, kFormatName);
        record.kind = SectionKind::CpuProfile;
        record.quantity = QuantityKind::Cpu;
        record.unit = Unit::Samples;
        record.event = eventName(head, i, events_.size());
        record.column = static_cast<unsigned>(i);
        events_[i].section = context.sink.section(record);
        describe(head, i);
    }
    reportSameEvents(head, first, context);
}

void ListWriter::describe(const Head& head, size_t index)
{
    const SectionHandle section = events_[index].section;
    if (!head.cpu.empty())
        context_.sink.fact(section, FactKind::CpuType, head.cpu);
    if (head.events.size() == events_.size())
        context_.sink.fact(section, FactKind::EventDescription, head.events[index].description);
    else if (head.events.size() == 1)
        context_.sink.fact(section, FactKind::EventDescription, head.events.front().description);
    if (!head.timer.empty())
        context_.sink.fact(section, FactKind::EventDescription, head.timer);
}

void ListWriter::add(const Row& row, const TextLine& line)
{
    if (row.overflow) {
        context_.report(DiagnosticCode::NumberOverflow,
            "the samples do not fit into 64 bits; the row was skipped, the others kept", line);
        whole_ = false;
        return;
    }
    if (!kernelImageSeen_) {
        const std::string_view kernel = kernelImage(row.image);
        kernelImageSeen_ = !kernel.empty();
        if (kernelImageSeen_)
            factOfAll(FactKind::Image, kernel);
    }
    for (size_t i = 0; i < events_.size(); ++i)
        addTo(events_[i], row.figures[i], row, line);
    if (!implied_.consistent())
        return;
    implied_.add(row.figures.front());
    if (!implied_.consistent())
        context_.report(DiagnosticCode::PrintedFigureDiffers,
            "samples and percentage of the row do not have the same whole as those above; both were kept",
            line);
}

void ListWriter::cutHere(std::string_view mark)
{
    whole_ = false;
    factOfAll(FactKind::CutMark, trimmed(mark));
}

void ListWriter::finish()
{
    for (const OneEvent& event : events_) {
        constexpr int64_t kHalfOfLastDigit = 500; // 0.00005 %
        constexpr int64_t kMost = Share::kPercent / 100;
        const int64_t rounding =
            std::min(kMost, kHalfOfLastDigit * static_cast<int64_t>(std::min<uint64_t>(event.rows, 200)));
        const int64_t missing = Share::kWhole - event.ppb;
        if (whole_ && !event.overflow && event.samples > 0 && std::abs(missing) <= rounding)
            context_.sink.total(event.section, event.samples);
    }
}

void ListWriter::addTo(OneEvent& event, const Figure& figure, const Row& row, const TextLine& line)
{
    ++event.rows;
    event.overflow = event.overflow || !figure.samples || !figure.share
        || __builtin_add_overflow(event.samples, *figure.samples, &event.samples)
        || __builtin_add_overflow(event.ppb, figure.share->ppb, &event.ppb);
    context_.sink.row(event.section,
        {.symbol = row.symbol,
            .image = row.image,
            .value = figure.samples,
            .share = figure.share,
            .line = line.number});
}

void ListWriter::factOfAll(FactKind kind, std::string_view value)
{
    for (const OneEvent& event : events_)
        context_.sink.fact(event.section, kind, value);
}

} // namespace whichlock::opreport
