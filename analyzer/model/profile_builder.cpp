// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/model/profile_builder.h"

#include <algorithm>

namespace whichlock {
namespace {

/// A fact is told once, where it stands first.
void addFact(std::vector<Fact>& facts, const Fact& fact)
{
    const auto known = std::find_if(facts.begin(), facts.end(),
        [&](const Fact& other) { return other.kind == fact.kind && other.value == fact.value; });
    if (known == facts.end())
        facts.push_back(fact);
    else
        known->position = std::min(known->position, fact.position);
}

} // namespace

void ProfileBuilder::beginInput(std::string name)
{
    input_ = static_cast<uint32_t>(inputs_.size());
    inputs_.emplace_back().name = std::move(name);
}

void ProfileBuilder::finishInput(const LoadedInput& loaded)
{
    InputInfo& info = inputs_[input_];
    info.format = loaded.format;
    info.confidence = loaded.confidence;
    info.bytes = loaded.bytes;
    info.failed = loaded.failed;
    for (const Diagnostic& one : loaded.diagnostics)
        diagnostic(one);
}

SectionHandle ProfileBuilder::section(const SectionRecord& record)
{
    return {sectionIndex(input_, record)};
}

uint32_t ProfileBuilder::sectionIndex(uint32_t input, const SectionRecord& record)
{
    const auto [entry, isNew] =
        sectionIndex_.try_emplace({input, record.position.offset, record.position, record.column, record.kind,
                                      record.event, record.title, record.format},
            static_cast<uint32_t>(sections_.size()));
    if (isNew) {
        Section section;
        section.record = record;
        section.input = input;
        sections_.push_back(std::move(section));
    }
    return entry->second;
}

void ProfileBuilder::total(SectionHandle section, uint64_t value)
{
    // Of several totals the largest one counts, in whatever order they come.
    std::optional<uint64_t>& total = sections_[section.index].total;
    total = std::max(total, std::optional(value));
}

StringId ProfileBuilder::internIfAny(std::string_view text)
{
    return text.empty() ? StringId() : strings_.intern(text);
}

/// The stack of a row: its symbol, and its callers where they are known.
StackId ProfileBuilder::rowStack(const ProfileRow& row)
{
    const StackId caller = row.callers.empty() ? StackId{} : stackOf(row.callers);
    const FrameId frame =
        frames_.intern({.symbol = strings_.intern(row.symbol), .object = strings_.intern(row.image)});
    return stacks_.intern({.parent = caller, .frame = frame});
}

void ProfileBuilder::row(SectionHandle section, const ProfileRow& row)
{
    Section& to = sections_[section.index];
    to.rows += row.furtherPart ? 0 : 1;
    to.sharesPrinted = to.sharesPrinted || row.share.has_value();
    const ThreadGroupId group =
        row.comm.empty() ? ThreadGroupId{} : groups_.intern({.comm = strings_.intern(row.comm)});
    const CellKey key{.section = section.index, .stack = rowStack(row), .group = group};
    addToCell(key, row.value.value_or(0), row.furtherPart ? 0 : 1, row.share.value_or(Share{}));
}

void ProfileBuilder::sample(SectionHandle section, const SampleRecord& sample)
{
    Section& to = sections_[section.index];
    to.samples += sample.count;
    to.rows += sample.frames.size() * sample.count;
    const StackId stack = stackOf(sample.frames);
    const ThreadGroupId group = groups_.intern({.comm = strings_.intern(sample.comm),
        .pid = sample.pid,
        .tid = tellThreads_ ? sample.tid : -1,
        .cpu = tellCpus_ ? sample.cpu : -1});
    addToCell({.section = section.index, .stack = stack, .group = group}, sample.weight, sample.count, {});
}

/// Readers hand the same texts over again and again from the same places; hashing them would be most of the
/// work.
bool ProfileBuilder::hasLock(const Frame& frame, const CalledLock& lock) const
{
    const auto is = [&](StringId id, std::string_view text) {
        return id ? strings_[id] == text : text.empty();
    };
    return frame.lockSource == lock.source && frame.lockVerified == lock.verified && is(frame.lock, lock.name)
        && is(frame.lockExpression, lock.expression);
}

FrameId ProfileBuilder::frameOf(const TextFrame& frame)
{
    constexpr size_t kSlots = 4096;
    if (recentFrames_.empty())
        recentFrames_.resize(kSlots);
    const uint64_t place = mixBits(reinterpret_cast<uintptr_t>(frame.symbol.data())
        ^ mixBits(frame.symbolOffset ^ reinterpret_cast<uintptr_t>(frame.object.data())));
    RecentFrame& recent = recentFrames_[place % kSlots];
    if (recent.frame && recent.place == place) {
        const Frame& known = frames_[recent.frame];
        if (known.symbolOffset == frame.symbolOffset && known.inlined == frame.inlined
            && known.recovered == frame.recovered && known.calleeMissing == frame.calleeMissing
            && known.waitLoop == frame.waitLoop && strings_[known.symbol] == frame.symbol
            && strings_[known.object] == frame.object && hasLock(known, frame.lock))
            return recent.frame;
    }
    recent = {frames_.intern({.symbol = strings_.intern(frame.symbol),
                  .object = strings_.intern(frame.object),
                  .symbolOffset = frame.symbolOffset,
                  .inlined = frame.inlined,
                  .recovered = frame.recovered,
                  .calleeMissing = frame.calleeMissing,
                  .waitLoop = frame.waitLoop,
                  .lockSource = frame.lock.source,
                  .lockVerified = frame.lock.verified,
                  .lock = internIfAny(frame.lock.name),
                  .lockExpression = internIfAny(frame.lock.expression)}),
        place};
    return recent.frame;
}

/// Neighbouring samples begin with the same frames: those keep their stacks.
StackId ProfileBuilder::stackOf(std::span<const TextFrame> frames)
{
    StackId stack;
    bool same = true;
    for (size_t i = frames.size(), depth = 0; i-- > 0; ++depth) {
        const FrameId frame = frameOf(frames[i]);
        same = same && depth < lastPath_.size() && lastPath_[depth].frame == frame;
        stack = same ? lastPath_[depth].stack : stacks_.intern({.parent = stack, .frame = frame});
        if (same)
            continue;
        lastPath_.resize(depth);
        lastPath_.push_back({frame, stack});
    }
    return stack;
}

void ProfileBuilder::addToCell(const CellKey& key, uint64_t weight, uint64_t samples, Share printed)
{
    const CellId id = cellKeys_.intern(key);
    if (id.v > cells_.size())
        cells_.push_back({.stack = key.stack, .group = key.group, .phase = key.phase, .printed = {}});
    Cell& cell = cells_[id.v - 1];
    Section& section = sections_[key.section];
    // A sum that overflows would break every share: what does not fit is reported and left out.
    if (__builtin_add_overflow(section.weight, weight, &section.weight)) {
        section.weight -= weight; // back to what it was: unsigned arithmetic wraps
        diagnostic(makeDiagnostic(DiagnosticCode::NumberOverflow,
            "the sum of a section does not fit into 64 bits; a row was left out of it",
            section.record.position));
        weight = 0;
    }
    cell.weight += weight;
    cell.samples += samples;
    cell.printed = saturatedSum(cell.printed, printed);
}

void ProfileBuilder::leftOut(SectionHandle section, const LeftOut& samples)
{
    sections_[section.index].leftOut += samples;
}

void ProfileBuilder::counterColumns(SectionHandle section, std::span<const std::string_view> columns)
{
    sections_[section.index].counterColumns.assign(columns.begin(), columns.end());
}

void ProfileBuilder::counterRow(SectionHandle section, std::span<const int64_t> values)
{
    sections_[section.index].counterRows.emplace_back(values.begin(), values.end());
}

void ProfileBuilder::table(SectionHandle section, const TableRecord& table)
{
    sections_[section.index].tables.push_back(table);
}

void ProfileBuilder::lockTrace(SectionHandle section, const LockTraceRecord& trace)
{
    sections_[section.index].trace = trace;
}

void ProfileBuilder::lockTable(SectionHandle section, const LockTableRecord& table)
{
    sections_[section.index].lockTable = table;
}

void ProfileBuilder::score(const ScoreRecord& score)
{
    scores_.push_back(score);
}

void ProfileBuilder::fact(SectionHandle section, FactKind kind, std::string_view value)
{
    Section& to = sections_[section.index];
    addFact(to.facts, {kind, std::string(value), to.record.position});
}

void ProfileBuilder::inputFact(FactKind kind, std::string_view value, const Position& position)
{
    addInputFact(input_, {kind, std::string(value), position});
}

void ProfileBuilder::addInputFact(uint32_t input, const Fact& fact)
{
    addFact(inputs_[input].facts, fact);
}

/// Diagnostics of the same code and sentence are told once, with their number.
void ProfileBuilder::diagnostic(Diagnostic diagnostic)
{
    const auto [entry, isNew] = diagnosticIndex_.try_emplace(
        {diagnostic.code, diagnostic.position.chain, diagnostic.message}, diagnostics_.size());
    if (isNew) {
        diagnostics_.push_back(std::move(diagnostic));
        return;
    }
    Diagnostic& known = diagnostics_[entry->second];
    known.count += diagnostic.count;
    known.position = std::min(known.position, diagnostic.position);
}

std::vector<uint32_t> ProfileBuilder::mergeInputs(const Profile& profile)
{
    std::vector<uint32_t> indexes;
    std::map<std::string_view, uint32_t> searchFrom; // a file may be given twice: each is met once
    for (const InputInfo& from : profile.inputs) {
        uint32_t& index = searchFrom[from.name];
        while (index < inputs_.size() && inputs_[index].name != from.name)
            ++index;
        if (index == inputs_.size())
            inputs_.emplace_back().name = from.name;
        InputInfo& to = inputs_[index];
        // Only one builder finishes an input; the others know nothing about it.
        if (std::tie(from.confidence, from.format) > std::tie(to.confidence, to.format)) {
            to.confidence = from.confidence;
            to.format = from.format;
        }
        to.bytes = std::max(to.bytes, from.bytes);
        to.failed = to.failed || from.failed;
        for (const Fact& one : from.facts)
            addInputFact(index, one);
        indexes.push_back(index++);
    }
    return indexes;
}

std::vector<StackId> ProfileBuilder::mergeStacks(const Profile& profile)
{
    std::vector<StackId> stacks(profile.stacks_.size() + 1);
    for (uint32_t i = 0; i < profile.stacks_.size(); ++i) {
        const Stack& stack = profile.stacks_[i];
        Frame frame = profile.frame(stack.frame);
        frame.symbol = strings_.intern(profile.string(frame.symbol));
        frame.object = strings_.intern(profile.string(frame.object));
        frame.lock = internIfAny(profile.string(frame.lock));
        frame.lockExpression = internIfAny(profile.string(frame.lockExpression));
        stacks[i + 1] = stacks_.intern({.parent = stacks[stack.parent.v], .frame = frames_.intern(frame)});
    }
    return stacks;
}

void ProfileBuilder::mergeSection(const Section& from, Section& to)
{
    to.rows += from.rows;
    to.samples += from.samples;
    to.leftOut += from.leftOut;
    to.sharesPrinted = to.sharesPrinted || from.sharesPrinted;
    to.total = std::max(to.total, from.total);
    if (to.counterColumns.empty())
        to.counterColumns = from.counterColumns;
    to.counterRows.insert(to.counterRows.end(), from.counterRows.begin(), from.counterRows.end());
    if (!to.trace)
        to.trace = from.trace;
    if (!to.lockTable)
        to.lockTable = from.lockTable;
    to.tables.insert(to.tables.end(), from.tables.begin(), from.tables.end());
    for (const Fact& one : from.facts)
        addFact(to.facts, one);
}

void ProfileBuilder::merge(const Profile& profile)
{
    const std::vector<uint32_t> inputs = mergeInputs(profile);
    const std::vector<StackId> stacks = mergeStacks(profile);
    for (const Section& from : profile.sections) {
        const uint32_t index = sectionIndex(inputs.at(from.input), from.record);
        mergeSection(from, sections_[index]);
        for (const Cell& cell : from.cells) {
            ThreadGroupId group;
            if (cell.group) {
                ThreadGroup row = profile.group(cell.group);
                row.comm = strings_.intern(profile.string(row.comm));
                group = groups_.intern(row);
            }
            addToCell({.section = index, .stack = stacks[cell.stack.v], .group = group, .phase = cell.phase},
                cell.weight, cell.samples, cell.printed);
        }
    }
    scores_.insert(scores_.end(), profile.scores.begin(), profile.scores.end());
    for (const Diagnostic& one : profile.diagnostics)
        diagnostic(one);
}

} // namespace whichlock
