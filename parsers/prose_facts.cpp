// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/prose_facts.h"

#include "parsers/input/text_cursor.h"
#include "parsers/input/text_scan.h"

#include <algorithm>
#include <array>

namespace whichlock {
namespace {

bool isWordCharacter(char c)
{
    return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string_view withoutPunctuation(std::string_view word)
{
    while (!word.empty() && !isWordCharacter(word.front()))
        word.remove_prefix(1);
    while (!word.empty() && !isWordCharacter(word.back()))
        word.remove_suffix(1);
    return word;
}

/// `2.6.16.5`, `6.1.55-foo`, `2.4.18pre7`: two points at least, digits between them.
bool looksLikeKernelVersion(std::string_view word)
{
    size_t points = 0;
    size_t at = 0;
    while (at < word.size()) {
        const size_t digits = at;
        while (at < word.size() && isDigit(word[at]))
            ++at;
        if (at == digits)
            return false;
        if (at == word.size() || word[at] != '.' || at + 1 == word.size() || !isDigit(word[at + 1]))
            break;
        ++points;
        ++at;
    }
    return points >= 2;
}

bool saysKernel(std::string_view word)
{
    return word == "kernel" || word == "Kernel" || word == "Linux" || word == "linux" || word == "kernels";
}

bool endsLikeALock(std::string_view word)
{
    constexpr std::array<std::string_view, 5> kEndings = {"_lock", "_mutex", "_sem", "_rwsem", "_spinlock"};
    return std::any_of(kEndings.begin(), kEndings.end(),
        [&](std::string_view ending) { return word.size() > ending.size() && word.ends_with(ending); });
}

/// Words such as spin_lock are calls, not locks.
bool isLockCall(std::string_view word)
{
    constexpr std::array<std::string_view, 7> kCalls = {
        "spin_lock", "read_lock", "write_lock", "_spin_lock", "raw_spin_lock", "mutex_lock", "rcu_read_lock"};
    return std::any_of(
        kCalls.begin(), kCalls.end(), [&](std::string_view call) { return word.ends_with(call); });
}

} // namespace

void reportProseFacts(const TextLine& line, const Position& position, RecordSink& sink)
{
    std::string_view rest = line.text;
    const bool mayNameLocks = rest.find("_lock") != std::string_view::npos
        || rest.find("_sem") != std::string_view::npos || rest.find("_mutex") != std::string_view::npos
        || rest.find("_spinlock") != std::string_view::npos || rest.find("_rwsem") != std::string_view::npos;
    const bool mayNameKernel =
        rest.find("ernel") != std::string_view::npos || rest.find("inux") != std::string_view::npos;
    if (!mayNameLocks && !mayNameKernel)
        return;
    std::string_view before;
    std::string_view version;
    for (std::string_view token = nextToken(rest); !token.empty(); token = nextToken(rest)) {
        const std::string_view word = withoutPunctuation(token);
        if (mayNameLocks && endsLikeALock(word) && !isLockCall(word))
            sink.inputFact(FactKind::Mention, word, position);
        if (mayNameKernel) {
            if (looksLikeKernelVersion(word) && saysKernel(before))
                sink.inputFact(FactKind::Kernel, word, position);
            else if (saysKernel(word) && !version.empty())
                sink.inputFact(FactKind::Kernel, version, position);
            version = looksLikeKernelVersion(word) ? word : std::string_view();
        }
        before = word;
    }
}

} // namespace whichlock
