// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/folded_rows.h"

#include "parsers/input/text_scan.h"

#include <algorithm>

namespace whichlock::folded {
namespace {

/// Takes a number off the end of `rest`, with the blanks before it.
std::string_view takeNumber(std::string_view& rest)
{
    const size_t blank = rest.find_last_of(" \t");
    if (blank == std::string_view::npos || blank + 1 == rest.size())
        return {};
    const std::string_view word = rest.substr(blank + 1);
    if (!isDigit(word.front()) || !(isAllDigits(word) || isDecimal(word)))
        return {};
    rest = trimmed(rest.substr(0, blank));
    return word;
}

/// Whether the `;` at `at` belongs to a name whose bracket is open: the bracket closes before one like it
/// opens.
bool closesBehind(std::string_view stack, size_t at, char open, char close)
{
    constexpr size_t kMostInside = 200;
    for (const char c : stack.substr(at, kMostInside)) {
        if (c == close)
            return true;
        if (c == open)
            return false;
    }
    return false;
}

/// Where threads leave their processor.
bool isScheduler(std::string_view function)
{
    return function == "schedule" || function == "__schedule" || function.starts_with("preempt_schedule")
        || function.starts_with("finish_task_switch");
}

/// The type of a Java method may end in `;` before its name: `Ljava/lang/Object;::wait`.
bool isEndOfType(std::string_view stack, size_t at)
{
    return stack.substr(at + 1).starts_with("::");
}

} // namespace

std::optional<FoldedLine> lineOf(std::string_view text)
{
    if (text.empty() || !isDigit(text.back()))
        return std::nullopt;
    FoldedLine line;
    line.stack = trimmed(text);
    line.value = takeNumber(line.stack);
    if (line.value.empty() || line.stack.empty())
        return std::nullopt;
    const bool separated = line.stack.find(';') != std::string_view::npos;
    if (!separated && line.stack.find_first_of(" \t") != std::string_view::npos)
        return std::nullopt;
    line.stackOfTwo = line.stack;
    line.first = takeNumber(line.stackOfTwo);
    return line;
}

bool splitFrames(std::string_view stack, std::vector<std::string_view>& frames)
{
    frames.clear();
    size_t begin = 0;
    int round = 0;
    int square = 0;
    for (size_t at = 0; at < stack.size(); ++at) {
        switch (stack[at]) {
        case '(':
            ++round;
            break;
        case ')':
            --round;
            break;
        case '[':
            ++square;
            break;
        case ']':
            --square;
            break;
        case ';':
            if ((round > 0 && closesBehind(stack, at, '(', ')'))
                || (square > 0 && closesBehind(stack, at, '[', ']')) || isEndOfType(stack, at))
                break;
            if (frames.size() == kMostFrames || stack.substr(at + 1).starts_with(' '))
                return false;
            frames.push_back(stack.substr(begin, at - begin));
            begin = at + 1;
            round = square = 0;
            break;
        default:
            break;
        }
    }
    frames.push_back(stack.substr(begin));
    return true;
}

void framesOf(const std::vector<std::string_view>& names, std::vector<TextFrame>& frames)
{
    frames.clear();
    bool kernel = false;
    for (const std::string_view name : names) {
        if (name == "--" || (name == "-" && !frames.empty() && isScheduler(frames.back().symbol)))
            break;
        if (name == "-") {
            kernel = true;
            continue;
        }
        if (name.empty())
            continue;
        frames.push_back(stackvalues::frameOf(name));
        if (kernel)
            frames.back().object = stackvalues::kKernelObject;
    }
    if (frames.empty())
        frames.push_back({.symbol = "[unknown]", .object = {}});
    std::reverse(frames.begin(), frames.end());
}

bool isEntry(std::string_view function)
{
    constexpr std::string_view kEntries[] = {"_start", "__libc_start_main", "main", "start_thread", "clone",
        "clone3", "__clone", "__clone3", "[unknown]", "[Missed User Stack]", "do_syscall_64", "page_fault",
        "runtime.goexit", "runtime.mstart", "cpu_startup_entry", "start_secondary", "secondary_startup_64"};
    constexpr std::string_view kBegins[] = {"entry_SYSCALL", "ret_from_fork", "system_call", "sysenter",
        "asm_", "el0", "__libc_start_main", "secondary_startup"};
    return std::find(std::begin(kEntries), std::end(kEntries), function) != std::end(kEntries)
        || std::any_of(std::begin(kBegins), std::end(kBegins),
            [&](std::string_view begin) { return function.starts_with(begin); });
}

} // namespace whichlock::folded
