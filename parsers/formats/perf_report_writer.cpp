// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/perf_report_writer.h"

#include "parsers/formats/perf_script_rows.h"
#include "parsers/input/text_scan.h"

#include <fmt/format.h>

#include <algorithm>

namespace whichlock::perfreport {
namespace {

/// Percentages of sleeps, faults and passed tracepoints are no time.
QuantityKind quantityOf(std::string_view event)
{
    switch (perfscript::classOf(event)) {
    case perfscript::EventClass::Clock:
    case perfscript::EventClass::Hardware:
        return QuantityKind::Cpu;
    case perfscript::EventClass::OffCpu:
        return QuantityKind::Wait;
    case perfscript::EventClass::Happening:
    case perfscript::EventClass::Tracepoint:
        return QuantityKind::Count;
    }
    return QuantityKind::Cpu;
}

/// `comm` and `object` of a row, a line each. No program runs in the kernel alone.
bool isKernelOfOneProgram(std::string_view view)
{
    const size_t end = view.find('\n');
    return end != 0
        && (view.substr(end + 1).starts_with("[k") || view.substr(end + 1).starts_with("vmlinux"));
}

std::string keyOf(const Row& row)
{
    return fmt::format("{}\n{}\n{}", row.comm, row.image, row.symbol);
}

} // namespace

TableWriter::TableWriter(
    const Head& head, const Row& first, const TextLine& line, size_t column, BlockContext& context)
    : context_(context)
    , sorted_(head.layout.named)
    , chain_(context.sectionAt(line, kFormatName).position.chain)
{
    first_ = {.text = {}, .number = line.number, .offset = line.offset};
    const size_t events = std::max<size_t>(1, std::min(head.events.size(), first.percentCount));
    children_ = head.layout.named ? head.layout.children : events == 1 && first.percentCount == 2;
    firstShare_ = children_ ? events : 0;
    for (size_t i = 0; i < events; ++i) {
        SectionRecord record = context.sectionAt(line, kFormatName);
        record.kind = SectionKind::CpuProfile;
        record.unit = Unit::Percent;
        if (i < head.events.size())
            record.event = head.events[i];
        record.quantity = quantityOf(record.event);
        if (record.command.empty())
            record.command = head.command;
        record.column = static_cast<unsigned>(i);
        if (column != 0) {
            record.position.column = column + 1;
            record.position.offset += column;
        }
        sections_.push_back(context.sink.section(record));
    }
    if (!head.samples.empty()) {
        const bool rounded = !isAllDigits(head.samples);
        factOfAll(FactKind::EventDescription,
            fmt::format("{} samples{}", head.samples, rounded ? " (rounded by perf)" : ""));
    }
    if (!head.filter.empty()) {
        factOfAll(FactKind::View, head.filter);
        context.report(DiagnosticCode::ViewFiltered,
            fmt::format("the view is confined to {}: the percentages may be of that part alone", head.filter),
            line);
    }
}

Share TableWriter::ownShare(const Row& row, size_t section) const
{
    const size_t index = firstShare_ + section;
    return index < row.percentCount ? row.percents[index] : Share{};
}

bool TableWriter::goesOnWith(const Row& row) const
{
    return row.percents[0] <= lastFirst_ && (sorted_ || !keys_.contains(keyOf(row)));
}

bool TableWriter::repeats(const Row& row) const
{
    return row.percents[0] > lastFirst_ && keys_.contains(keyOf(row));
}

void TableWriter::add(const Row& row, const TextLine& line)
{
    flush();
    lastFirst_ = row.percents[0];
    const bool whole = row.percentCount >= firstShare_ + sections_.size();
    if (!whole || (children_ && row.percents[firstShare_].ppb > row.percents[0].ppb + Share::kPercent / 50)) {
        context_.report(DiagnosticCode::RowUnreadable,
            "the percentages of the row do not fit the others'; it was skipped, the others kept", line);
        return;
    }
    pending_ = {.comm = std::string(row.comm),
        .image = std::string(row.image),
        .symbol = std::string(row.symbol),
        .line = line.number};
    for (size_t i = 0; i < sections_.size(); ++i)
        pending_.shares.push_back(ownShare(row, i));
    if (children_)
        pending_.children = row.percents[0];
    hasPending_ = true;
    ++rows_;
    sum_ = saturatedSum(sum_, pending_.shares.front());
    if (!sorted_)
        keys_.insert(keyOf(row));
    if (views_.size() < 2)
        views_.insert(fmt::format("{}\n{}", row.comm, row.image));
}

void TableWriter::flush()
{
    if (!hasPending_)
        return;
    hasPending_ = false;
    const std::string_view symbol = pending_.symbol;
    for (size_t i = 0; i < sections_.size(); ++i)
        emit(pending_, i, {&symbol, 1}, pending_.shares[i], false);
}

/// `chain` has the function and what called it.
void TableWriter::emit(
    const Kept& row, size_t section, std::span<const std::string_view> chain, Share share, bool part)
{
    std::vector<TextFrame> callers;
    for (const std::string_view caller : chain.subspan(1))
        callers.push_back({.symbol = caller, .object = {}});
    const bool own = chain.front() == row.symbol;
    context_.sink.row(sections_[section],
        {.symbol = chain.front(),
            .image = own ? std::string_view(row.image) : std::string_view(),
            .comm = row.comm,
            .share = share,
            .callers = callers,
            .furtherPart = part,
            .line = row.line});
}

void TableWriter::addGraph(CallGraph graph, const TextLine& line)
{
    if (!hasPending_ || graph.empty())
        return;
    if (sections_.size() > 1) {
        unusedGraphs_.add(context_, line, "a call graph of several events was passed over; the row was kept");
        return;
    }
    GraphReading reading = readGraph(
        graph, {.symbol = pending_.symbol, .self = pending_.shares.front(), .children = pending_.children});
    switch (reading.use) {
    case GraphReading::Use::Callers:
        splitByGraph(reading, graph);
        break;
    case GraphReading::Use::Callees:
        if (++calleeGraphs_ == 1) {
            callees_ = std::move(graph);
            calleesReading_ = std::move(reading);
            calleesRow_ = pending_;
        }
        break;
    case GraphReading::Use::Unused:
        // What the functions below this one did has rows of its own.
        if (pending_.shares.front().ppb != 0)
            unusedGraphs_.add(context_, line,
                fmt::format("a call graph was passed over: {}; the row was kept", reading.whyNot));
        break;
    }
}

/// The row's own share, by callers; what they leave of it keeps none.
void TableWriter::splitByGraph(const GraphReading& reading, const CallGraph& graph)
{
    hasPending_ = false;
    Share rest = pending_.shares.front();
    bool part = false;
    for (const GraphPart& one : reading.parts) {
        const Share share = std::min(one.share, rest);
        if (share.ppb == 0)
            continue;
        rest.ppb -= share.ppb;
        emit(pending_, 0, chainOf(graph, reading, one, pending_.symbol), share, part);
        part = true;
    }
    const std::string_view symbol = pending_.symbol;
    if (rest.ppb != 0 || !part)
        emit(pending_, 0, {&symbol, 1}, rest, part);
}

/// The callees of the only row. Among several rows they would be counted twice.
void TableWriter::emitCallees()
{
    if (calleeGraphs_ == 0)
        return;
    if (calleeGraphs_ > 1 || rows_ > 1) {
        unusedGraphs_.add(context_, first_,
            "call graphs with the callees of a function were passed over: other rows have the same samples; "
            "all rows were kept");
        return;
    }
    for (const GraphPart& one : calleesReading_.parts)
        emit(calleesRow_, 0, chainOf(callees_, calleesReading_, one, calleesRow_.symbol), one.share, true);
}

void TableWriter::cutHere(std::string_view mark)
{
    factOfAll(FactKind::CutMark, trimmed(mark));
}

void TableWriter::repaired(std::string_view how)
{
    factOfAll(FactKind::Repair, how);
}

void TableWriter::finish()
{
    flush();
    emitCallees();
    // A whole machine has more than one program or object; all of one adds up to 100 % where others are
    // hidden.
    const auto rounding = static_cast<int64_t>(std::min<uint64_t>(rows_, 1000)) * Share::kPercent / 200;
    const bool whole = std::abs(sum_.ppb - Share::kWhole) <= rounding;
    if (whole && rows_ > 1 && views_.size() == 1 && isKernelOfOneProgram(*views_.begin())) {
        factOfAll(FactKind::View, "one program's kernel rows");
        context_.report(DiagnosticCode::ViewFiltered,
            fmt::format(
                "the kernel rows of one program add up to {}.{:02} %: the view was filtered, and what "
                "part of all time it is cannot be told",
                sum_.ppb / Share::kPercent, sum_.ppb % Share::kPercent / (Share::kPercent / 100)),
            first_);
    }
    unusedGraphs_.finish(context_, chain_, "more call graphs were passed over; all rows were kept");
}

void TableWriter::factOfAll(FactKind kind, std::string_view value)
{
    for (const SectionHandle section : sections_)
        context_.sink.fact(section, kind, value);
}

} // namespace whichlock::perfreport
