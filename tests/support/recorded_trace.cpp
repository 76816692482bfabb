// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/recorded_trace.h"

#include "parsers/perf_data/perf_data_reader.h"
#include "tests/support/gzip.h"

#include <algorithm>
#include <functional>

namespace whichlock::test {
namespace {

/// `803.964179549:` in nanoseconds, 0 if it is none.
uint64_t timeIn(std::string_view word)
{
    const size_t dot = word.find('.');
    if (dot == std::string_view::npos || word.size() != dot + 11 || word.back() != ':')
        return 0;
    uint64_t ns = 0;
    for (const char one : word.substr(0, word.size() - 1)) {
        if (one == '.')
            continue;
        if (one < '0' || one > '9')
            return 0;
        ns = ns * 10 + static_cast<uint64_t>(one - '0');
    }
    return ns;
}

std::vector<std::string_view> wordsOf(std::string_view line)
{
    std::vector<std::string_view> words;
    for (size_t at = line.find_first_not_of(' '); at < line.size();) {
        const size_t end = std::min(line.find(' ', at), line.size());
        words.push_back(line.substr(at, end - at));
        at = line.find_first_not_of(' ', end);
    }
    return words;
}

ScriptFrame frameOf(std::string_view line)
{
    const size_t address = line.find_first_not_of(" \t");
    const size_t begin = line.find(' ', address) + 1;
    const size_t object = line.rfind(" (");
    ScriptFrame frame;
    std::string_view name = line.substr(begin, object - begin);
    frame.kernel = line.substr(address).starts_with("ffffffff");
    name = name.substr(0, name.rfind("+0x"));
    if (name != "[unknown]")
        frame.function = std::string(name);
    return frame;
}

/// The stacks of perf script by time and event, in the order of the file.
class ScriptStacks {
public:
    explicit ScriptStacks(const std::string& text)
    {
        std::string_view rest = text;
        std::pair<uint64_t, std::string> key;
        ScriptStack stack;
        while (!rest.empty()) {
            const size_t end = std::min(rest.find('\n'), rest.size());
            const std::string_view line = rest.substr(0, end);
            rest.remove_prefix(std::min(end + 1, rest.size()));
            if (line.starts_with('\t')) {
                stack.push_back(frameOf(line));
                continue;
            }
            if (key.first != 0)
                byKey_[key].push_back(std::move(stack));
            stack.clear();
            key = {};
            const std::vector<std::string_view> words = wordsOf(line);
            for (size_t i = 0; i + 1 < words.size() && key.first == 0; ++i) {
                if (const uint64_t time = timeIn(words[i]))
                    key = {time, std::string(words[i + 1].substr(0, words[i + 1].size() - 1))};
            }
        }
        if (key.first != 0)
            byKey_[key].push_back(std::move(stack));
    }

    ScriptStack take(uint64_t time, const std::string& event)
    {
        const auto at = byKey_.find({time, event});
        if (at == byKey_.end() || at->second.empty())
            return {};
        ScriptStack stack = std::move(at->second.front());
        at->second.erase(at->second.begin());
        return stack;
    }

private:
    std::map<std::pair<uint64_t, std::string>, std::vector<ScriptStack>> byKey_;
};

std::vector<NamedFrame> namedFrames(const ScriptStack& stack)
{
    std::vector<NamedFrame> frames;
    for (const ScriptFrame& frame : stack)
        frames.push_back({frame.function, frame.kernel});
    return frames;
}

class ScriptEnvironment : public TraceEnvironment {
public:
    TraceStackClass classify(TraceStackId stack) override
    {
        return classifier.classify(namedFrames(stacks[stack.v - 1]));
    }
    uint32_t epochOf(int32_t pid) override { return epochs[pid]; }

    TraceStackId intern(ScriptStack stack)
    {
        if (stack.empty())
            return {};
        const auto [at, isNew] = ids.try_emplace(stack, static_cast<uint32_t>(stacks.size() + 1));
        if (isNew)
            stacks.push_back(std::move(stack));
        return {at->second};
    }

    StackClassifier classifier{RoutineTable::builtIn(), Context{}};
    std::map<ScriptStack, uint32_t> ids;
    std::vector<ScriptStack> stacks;
    std::map<int32_t, uint32_t> epochs;
};

/// Keeps all events until the end, and sorts them.
class TraceSink : public PerfDataSink {
public:
    explicit TraceSink(ScriptStacks& scriptStacks)
        : script(scriptStacks)
    {
    }

    void event(const PerfEvent& event) override
    {
        decoder.event(event);
        names[event.index] = event.name;
    }
    void sample(const PerfRecord&, const PerfSample& sample) override
    {
        if (PerfTraceEvent event; decoder.decode(sample, event)) {
            const TraceStackId stack = environment.intern(script.take(sample.time, names[sample.event]));
            held.emplace_back(sample.time, [this, event, stack] { replay(event, stack, analyser); });
        }
    }
    void fork(const PerfRecord& record, const PerfTask& task) override
    {
        held.emplace_back(record.id.time, [this, task, time = record.id.time] {
            analyser.fork(time, static_cast<int32_t>(task.pid), static_cast<int32_t>(task.tid),
                static_cast<int32_t>(task.parentTid));
        });
    }
    void exit(const PerfRecord& record, const PerfTask& task) override
    {
        held.emplace_back(record.id.time,
            [this, task, time = record.id.time] { analyser.exit(time, static_cast<int32_t>(task.tid)); });
    }
    void comm(const PerfRecord& record, const PerfComm& comm) override
    {
        held.emplace_back(record.id.time, [this, comm, name = std::string(comm.name), time = record.id.time] {
            if (comm.exec)
                ++environment.epochs[static_cast<int32_t>(comm.pid)];
            analyser.name(time, static_cast<int32_t>(comm.pid), static_cast<int32_t>(comm.tid), name);
        });
    }
    void lost(const PerfRecord& record, const PerfLost& lost) override
    {
        held.emplace_back(record.id.time, [this, lost] { analyser.lost(lost.count); });
    }

    TraceAnalysis finish()
    {
        std::stable_sort(
            held.begin(), held.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        if (decoder.sampled())
            analyser.sampled();
        if (decoder.hasSwitches())
            analyser.schedulerRecorded();
        for (const auto& [time, run] : held)
            run();
        return analyser.finish();
    }

    ScriptStacks& script;
    ScriptEnvironment environment;
    TraceAnalyser analyser{environment};
    PerfTraceEvents decoder;
    std::map<uint32_t, std::string> names;
    std::vector<std::pair<uint64_t, std::function<void()>>> held;
};

} // namespace

std::string RecordedTrace::siteOf(TraceStackId stack) const
{
    if (!stack)
        return {};
    StackClassifier classifier(RoutineTable::builtIn(), Context{});
    const ScriptStack& frames = stacks[stack.v - 1];
    const size_t site = classifier.siteOf(namedFrames(frames));
    return site < frames.size() ? frames[site].function : std::string();
}

const TraceLock* RecordedTrace::user(uint64_t address) const
{
    const auto at = std::ranges::find_if(analysis.locks, [&](const TraceLock& lock) {
        return lock.key.space != LockSpace::Kernel && lock.key.address == address;
    });
    return at == analysis.locks.end() ? nullptr : &*at;
}

const TraceLock* RecordedTrace::kernel(uint64_t address) const
{
    const auto at = std::ranges::find_if(analysis.locks, [&](const TraceLock& lock) {
        return lock.key.space == LockSpace::Kernel && lock.key.address == address;
    });
    return at == analysis.locks.end() ? nullptr : &*at;
}

std::optional<TraceWord> wordOf(const TraceLock* lock)
{
    if (lock == nullptr)
        return std::nullopt;
    return TraceWord{.waits = lock->waits, .waitNs = lock->waitNs, .maxNs = lock->waitTimes.maxNs()};
}

std::optional<TraceWord> RecordedTrace::userWord(uint64_t address) const
{
    for (const TraceLock& lock : analysis.locks) {
        if (const auto word = lock.words.find(address); word != lock.words.end())
            return word->second;
    }
    return wordOf(user(address));
}

RecordedTrace readTrace(const std::filesystem::path& folder, const std::string& name)
{
    ScriptStacks script(unpacked(folder / (name + ".script.txt.gz")));
    TraceSink sink(script);
    RecordedTrace trace;
    if (readPerfData((folder / (name + ".data")).string(), sink))
        trace.analysis = sink.finish();
    trace.stacks = std::move(sink.environment.stacks);
    return trace;
}

} // namespace whichlock::test
