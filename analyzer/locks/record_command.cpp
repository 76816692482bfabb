// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/locks/record_command.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace whichlock {
namespace {

std::vector<std::string_view> wordsOf(std::string_view text)
{
    std::vector<std::string_view> words;
    for (size_t at = text.find_first_not_of(' '); at != std::string_view::npos;
         at = text.find_first_not_of(' ', at)) {
        const size_t end = std::min(text.find(' ', at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end;
    }
    return words;
}

bool isPerf(std::string_view word)
{
    const std::string_view base = word.substr(word.rfind('/') + 1);
    return base == "perf" || base.starts_with("perf_") || base.starts_with("perf-");
}

/// Options of perf record that take the next word where no value is attached.
constexpr std::string_view kShortWithValue = "eFcpturCmDGkoj";
constexpr std::array<std::string_view, 31> kLongWithValue = {"--event", "--filter", "--freq", "--count",
    "--pid", "--tid", "--uid", "--realtime", "--cpu", "--mmap-pages", "--delay", "--cgroup", "--clockid",
    "--output", "--call-graph", "--branch-filter", "--user-regs", "--intr-regs", "--max-size", "--aux-sample",
    "--proc-map-timeout", "--num-thread-synthesize", "--control", "--switch-max-files", "--affinity",
    "--ctlfd", "--vmlinux", "--clang-path", "--synth", "--debuginfod", "--mmap-flush"};

/// Commands that record the whole machine by themselves; others do so where they run no program.
bool recordsMachine(std::string_view command)
{
    return command == "sched" || command == "kvm" || command == "timechart";
}

class Reader {
public:
    explicit Reader(std::vector<std::string_view> words)
        : words_(std::move(words))
    {
    }

    RecordCommand read()
    {
        const auto perf = std::find_if(words_.begin(), words_.end(), isPerf);
        const auto record = std::find(perf, words_.end(), "record");
        // `perf lock record`, `perf record`: no option stands so far in front.
        if (perf == words_.end() || record == words_.end() || record - perf > 2)
            return {};
        machine_ = record - perf == 2 && recordsMachine(perf[1]);
        next_ = static_cast<size_t>(record - words_.begin()) + 1;
        while (next_ < words_.size() && words_[next_].starts_with('-') && words_[next_] != "--") {
            const std::string_view word = words_[next_++];
            if (word.starts_with("--"))
                readLong(word);
            else
                readShort(word);
        }
        if (next_ < words_.size() && words_[next_] == "--")
            ++next_;
        for (; next_ < words_.size(); ++next_)
            result_.workload += (result_.workload.empty() ? "" : " ") + std::string(words_[next_]);
        const bool process = !result_.workload.empty() || chosen_;
        result_.scope = machine_ || !process ? RecordedScope::Machine : RecordedScope::Process;
        return std::move(result_);
    }

private:
    void readLong(std::string_view word)
    {
        const size_t equals = word.find('=');
        const std::string_view name = word.substr(0, equals);
        std::string_view value = equals == std::string_view::npos ? "" : word.substr(equals + 1);
        const bool takesNext =
            std::find(kLongWithValue.begin(), kLongWithValue.end(), name) != kLongWithValue.end();
        if (equals == std::string_view::npos && takesNext && next_ < words_.size())
            value = words_[next_++];
        if (name == "--filter")
            skipExpression();
        machine_ = machine_ || name == "--all-cpus" || name == "--cpu";
        chosen_ = chosen_ || name == "--pid" || name == "--tid" || name == "--uid";
        if (name == "--call-graph")
            result_.copiesStacks = value.starts_with("dwarf");
    }

    /// The rest of a filter that had quotes around it: `--filter pid != 3 && cpu == 1`.
    void skipExpression()
    {
        constexpr std::array<std::string_view, 10> kOperators = {
            "==", "!=", "<", ">", "<=", ">=", "~", "&", "&&", "||"};
        while (next_ < words_.size()
            && std::find(kOperators.begin(), kOperators.end(), words_[next_]) != kOperators.end())
            next_ += 2;
    }

    /// `-ag`, `-p17`, `-F 99`: letters up to the first one with a value.
    void readShort(std::string_view word)
    {
        for (size_t i = 1; i < word.size(); ++i) {
            const char letter = word[i];
            machine_ = machine_ || letter == 'a' || letter == 'C';
            chosen_ = chosen_ || letter == 'p' || letter == 't' || letter == 'u';
            if (letter == 'I' || letter == 'S') // their values are only ever attached
                return;
            if (kShortWithValue.find(letter) == std::string_view::npos)
                continue;
            next_ += i + 1 == word.size() ? 1 : 0;
            return;
        }
    }

    std::vector<std::string_view> words_;
    size_t next_ = 0;
    bool machine_ = false;
    bool chosen_ = false;
    RecordCommand result_;
};

} // namespace

std::string_view scopeName(RecordedScope scope)
{
    switch (scope) {
    case RecordedScope::Machine:
        return "machine";
    case RecordedScope::Process:
        return "process";
    case RecordedScope::Unknown:
        break;
    }
    return {};
}

RecordCommand parseRecordCommand(std::string_view command)
{
    return Reader(wordsOf(command)).read();
}

} // namespace whichlock
