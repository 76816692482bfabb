// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/pprof/pprof_reader.h"

#include "parsers/formats/pprof_rows.h"
#include "parsers/input/gunzip.h"
#include "parsers/pprof/pprof_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace whichlock {
namespace {

using namespace pprof;

constexpr std::string_view kName = "pprof";
constexpr size_t kMostFrames = 2048;

/// Packed profiles are a few times smaller than what is in them; more is no profile.
constexpr size_t kMostRatio = 200;
constexpr size_t kSmallest = 1024 * 1024;

/// Which values of the samples are read, and what they are.
struct Meaning {
    SectionKind kind = SectionKind::CpuProfile;
    QuantityKind quantity = QuantityKind::Cpu;
    WaitStacks waits = WaitStacks::OffCpu;
    size_t weight = 0;             ///< place of the value that counts
    uint64_t nsEach = 1;           ///< ns of one of it
    std::optional<size_t> count{}; ///< place of the number of waits or samples
    std::string_view event{};
};

uint64_t nsOf(std::string_view unit)
{
    constexpr std::pair<std::string_view, uint64_t> kUnits[] = {{"nanoseconds", 1}, {"ns", 1},
        {"microseconds", 1'000}, {"us", 1'000}, {"milliseconds", 1'000'000}, {"ms", 1'000'000},
        {"seconds", 1'000'000'000}, {"s", 1'000'000'000}};
    for (const auto& [name, ns] : kUnits) {
        if (unit == name)
            return ns;
    }
    return 0;
}

std::optional<size_t> placeOf(const Message& message, std::string_view type)
{
    for (size_t i = 0; i < message.sampleTypes.size(); ++i) {
        if (message.sampleTypes[i].type == type)
            return i;
    }
    return std::nullopt;
}

/// Reads samples of a message and hands them over.
class ProfileReader {
public:
    ProfileReader(const Message& message, const std::string& input, RecordSink& sink)
        : message_(message)
        , input_(input)
        , sink_(sink)
    {
    }

    /// Empty, or why nothing could be read.
    std::string run()
    {
        if (!findMeaning())
            return fmt::format("is a profile of {}: of no time, and of no locks", typesText());
        SectionRecord record;
        record.kind = meaning_.kind;
        record.quantity = meaning_.quantity;
        record.unit = Unit::Nanoseconds;
        record.waits = meaning_.waits;
        record.format = kName;
        record.event = meaning_.event;
        record.position = {.chain = input_};
        const SectionHandle section = sink_.section(record);
        for (const std::string_view bytes : message_.samples)
            deliver(bytes, section);
        report();
        return {};
    }

private:
    /// Mutex and block profiles have the same types: their innermost functions tell them apart.
    bool findMeaning()
    {
        const auto delay = placeOf(message_, "delay");
        const auto place = delay ? delay : placeOf(message_, "cpu");
        if (!place)
            return false;
        meaning_.weight = *place;
        meaning_.nsEach = nsOf(message_.sampleTypes[*place].unit);
        meaning_.event = message_.sampleTypes[*place].type;
        meaning_.count = placeOf(message_, delay ? "contentions" : "samples");
        if (!delay)
            return meaning_.nsEach != 0;
        meaning_.kind = SectionKind::WaitProfile;
        meaning_.quantity = QuantityKind::Wait;
        meaning_.waits = allUnlock() ? WaitStacks::Holders : WaitStacks::OffCpu;
        return meaning_.nsEach != 0;
    }

    bool allUnlock()
    {
        constexpr size_t kLookedAt = 64;
        size_t unlocks = 0;
        size_t others = 0;
        Sample sample;
        for (size_t i = 0; i < std::min(message_.samples.size(), kLookedAt); ++i) {
            if (!parseSample(message_.samples[i], sample) || sample.locations.empty())
                continue;
            frames_.clear();
            addFrames(sample.locations.front());
            const bool unlock = !frames_.empty() && isUnlock(frames_.front().symbol);
            ++(unlock ? unlocks : others);
        }
        return unlocks != 0 && others == 0;
    }

    std::string typesText() const
    {
        constexpr size_t kMost = 4;
        std::string text;
        for (size_t i = 0; i < std::min(message_.sampleTypes.size(), kMost); ++i)
            text += fmt::format("{}{}/{}", i == 0 ? "" : ", ", message_.sampleTypes[i].type.substr(0, 40),
                message_.sampleTypes[i].unit.substr(0, 40));
        return text.empty() ? "unnamed values" : text;
    }

    void deliver(std::string_view bytes, SectionHandle section)
    {
        if (!parseSample(bytes, sample_) || meaning_.weight >= sample_.values.size()) {
            ++damaged_;
            return;
        }
        // Differences of two profiles have values below zero.
        const auto signedValue = static_cast<int64_t>(sample_.values[meaning_.weight]);
        uint64_t weight = 0;
        if (signedValue < 0
            || __builtin_mul_overflow(static_cast<uint64_t>(signedValue), meaning_.nsEach, &weight)) {
            ++overflows_;
            return;
        }
        frames_.clear();
        for (const uint64_t location : sample_.locations) {
            if (frames_.size() >= kMostFrames) {
                ++tooDeep_;
                break;
            }
            addFrames(location);
        }
        const bool counted = meaning_.count && *meaning_.count < sample_.values.size()
            && static_cast<int64_t>(sample_.values[*meaning_.count]) > 0;
        sink_.sample(section,
            {.count = counted ? sample_.values[*meaning_.count] : 1, .weight = weight, .frames = frames_});
    }

    /// The functions at an address, those that were inlined there first.
    void addFrames(uint64_t id)
    {
        const auto found = message_.locations.find(id);
        if (found == message_.locations.end()) {
            frames_.push_back({.symbol = "[unknown]", .object = {}});
            return;
        }
        const Location& location = found->second;
        if (location.lines.empty())
            frames_.push_back({.symbol = location.text, .object = {}});
        for (size_t i = 0; i < location.lines.size(); ++i) {
            const auto& [name, line] = location.lines[i];
            const auto function = message_.functions.find(name);
            TextFrame frame{.symbol = "[unknown]", .object = {}};
            if (function != message_.functions.end() && !function->second.name.empty()) {
                frame.symbol = function->second.name;
                frame.file = function->second.file;
                frame.line = line;
            }
            frame.inlined = i + 1 < location.lines.size();
            frames_.push_back(frame);
        }
    }

    void report() const
    {
        const auto say = [&](DiagnosticCode code, uint64_t count, const char* what) {
            if (count == 0)
                return;
            Diagnostic diagnostic = makeDiagnostic(code, what, {.chain = input_});
            diagnostic.count = count;
            sink_.diagnostic(std::move(diagnostic));
        };
        say(DiagnosticCode::RecordDamaged, damaged_, "samples are damaged and were skipped");
        say(DiagnosticCode::NumberOverflow, overflows_,
            "values are below zero or do not fit; they were skipped");
        say(DiagnosticCode::StacksTooDeep, tooDeep_, "stacks are deeper than what is kept of them");
    }

    const Message& message_;
    const std::string& input_;
    RecordSink& sink_;
    Meaning meaning_;
    Sample sample_;
    std::vector<TextFrame> frames_;
    uint64_t damaged_ = 0;
    uint64_t overflows_ = 0;
    uint64_t tooDeep_ = 0;
};

/// All bytes of an input; the error is that of reading.
Result<std::string> readAll(Source& source)
{
    std::string bytes;
    std::array<char, 64 * 1024> buffer;
    for (;;) {
        const auto got = source.read(buffer);
        if (!got)
            return tl::unexpected(got.error());
        if (*got == 0)
            return bytes;
        bytes.append(buffer.data(), *got);
    }
}

void fail(LoadedInput& loaded, DiagnosticCode code, std::string message)
{
    loaded.failed = true;
    loaded.diagnostics.push_back(makeDiagnostic(code, std::move(message), {.chain = loaded.name}));
}

} // namespace

bool looksLikePprof(std::string_view head)
{
    constexpr size_t kEnough = 256;
    return looksLikeGzip(head) ? looksLikeMessage(gunzip(head, kEnough).bytes) : looksLikeMessage(head);
}

LoadedInput loadPprof(Source& source, RecordSink& sink)
{
    LoadedInput loaded;
    loaded.name = source.name();
    auto bytes = readAll(source);
    loaded.bytes = source.bytesRead();
    if (!bytes) {
        loaded.failed = true;
        loaded.diagnostics.push_back(bytes.error());
        return loaded;
    }
    Unpacked end = Unpacked::Whole;
    if (looksLikeGzip(*bytes)) {
        UnpackedBytes unpacked = gunzip(*bytes, std::max(kSmallest, bytes->size() * kMostRatio));
        end = unpacked.end;
        *bytes = std::move(unpacked.bytes);
    }
    const Message message = parseMessage(*bytes);
    if (std::string whyNot = ProfileReader(message, loaded.name, sink).run(); !whyNot.empty()) {
        fail(loaded, DiagnosticCode::KnownButUnread, std::move(whyNot));
        return loaded;
    }
    loaded.format = kName;
    loaded.confidence = Confidence::Certain;
    loaded.why = "a message of pprof that begins with the type of its values";
    const auto cut = [&](DiagnosticCode code, const char* what) {
        loaded.diagnostics.push_back(makeDiagnostic(code, what, {.chain = loaded.name}));
    };
    if (end == Unpacked::TooLarge)
        cut(DiagnosticCode::LimitReached, "unpacks to more than a profile could; the rest was left out");
    else if (end == Unpacked::Damaged)
        cut(DiagnosticCode::CompressionBroken, "the packed bytes are damaged");
    else if (end == Unpacked::Cut || message.damaged)
        cut(DiagnosticCode::FileCut, "the profile ends inside of a field");
    return loaded;
}

} // namespace whichlock
