// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/locks/normalise.h"

#include <algorithm>
#include <array>

namespace whichlock {

namespace {

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

bool isHexDigit(char c)
{
    return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool isWordChar(char c)
{
    return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}

bool dropPrefix(std::string_view& name, std::string_view prefix)
{
    if (!name.starts_with(prefix) || name.size() == prefix.size())
        return false;
    name.remove_prefix(prefix.size());
    return true;
}

bool dropSuffix(std::string_view& name, std::string_view suffix)
{
    if (!name.ends_with(suffix) || name.size() == suffix.size())
        return false;
    name.remove_suffix(suffix.size());
    return true;
}

/// Drops `0x1f` at the end and what stands in front of it, `+` or `/`.
bool dropHexNumber(std::string_view& name, char before)
{
    size_t at = name.size();
    while (at > 0 && isHexDigit(name[at - 1]))
        --at;
    // The 0 of 0x is not among the digits that were passed: x is none.
    if (at == name.size() || at < 3 || name[at - 1] != 'x' || name[at - 2] != '0' || name[at - 3] != before)
        return false;
    if (at == 3)
        return false;
    name.remove_suffix(name.size() - (at - 3));
    return true;
}

bool dropOffset(std::string_view& name)
{
    std::string_view shorter = name;
    dropHexNumber(shorter, '/');
    if (!dropHexNumber(shorter, '+'))
        return false;
    name = shorter;
    return true;
}

void trim(std::string_view& name)
{
    while (!name.empty() && (name.front() == ' ' || name.front() == '\t'))
        name.remove_prefix(1);
    while (!name.empty() && (name.back() == ' ' || name.back() == '\t'))
        name.remove_suffix(1);
}

void dropTags(std::string_view& name)
{
    static constexpr std::array<std::string_view, 2> kBefore = {"[k] ", "[.] "};
    static constexpr std::array<std::string_view, 6> kBehind = {
        " (inlined)", " [k]", " [.]", "_[k]", "_[i]", "_[j]"};
    bool dropped = true;
    while (dropped) {
        trim(name);
        const auto before = [&name](std::string_view tag) { return dropPrefix(name, tag); };
        const auto behind = [&name](std::string_view tag) { return dropSuffix(name, tag); };
        dropped = dropOffset(name) || std::any_of(kBefore.begin(), kBefore.end(), before)
            || std::any_of(kBehind.begin(), kBehind.end(), behind);
    }
}

/// `pthread_mutex_lock@@GLIBC_2.2.5`, `memcpy@GLIBC_2.14`
void dropSymbolVersion(std::string_view& name)
{
    const size_t at = name.find('@');
    if (at == std::string_view::npos || at == 0)
        return;
    const size_t version = name.find_first_not_of('@', at);
    if (version != std::string_view::npos && version - at <= 2
        && std::all_of(name.begin() + static_cast<std::ptrdiff_t>(version), name.end(), isWordChar))
        name = name.substr(0, at);
}

/// One ending that the compiler gave to a copy or a part of a function: `.constprop.0`, `.cold`.
bool dropCompilerEnding(std::string_view& name)
{
    if (dropSuffix(name, ".cold"))
        return true;
    size_t at = name.size();
    while (at > 0 && isDigit(name[at - 1]))
        --at;
    if (at == name.size() || at == 0 || name[at - 1] != '.')
        return false;
    std::string_view shorter = name.substr(0, at - 1);
    static constexpr std::array<std::string_view, 6> kEndings = {
        ".constprop", ".isra", ".part", ".cold", ".llvm", ".lto_priv"};
    const auto ending = [&shorter](std::string_view text) { return dropSuffix(shorter, text); };
    if (!std::any_of(kEndings.begin(), kEndings.end(), ending))
        return false;
    name = shorter;
    return true;
}

/// `core::cell::Cell<T>::get::h0123456789abcdef`
void dropRustHash(std::string_view& name)
{
    constexpr size_t kLength = 19;
    if (name.size() <= kLength)
        return;
    const std::string_view tail = name.substr(name.size() - kLength);
    if (tail.starts_with("::h") && std::all_of(tail.begin() + 3, tail.end(), isHexDigit))
        name.remove_suffix(kLength);
}

/// Most names of a profile: nothing in them that any rule could drop.
bool isPlain(std::string_view symbol)
{
    if (symbol.empty())
        return true;
    const bool hasMark = std::any_of(symbol.begin(), symbol.end(), [](char c) {
        return c == '.' || c == '+' || c == '@' || c == '[' || c == ' ' || c == ':' || c == '\t';
    });
    return !hasMark && !symbol.starts_with("__GI_") && !symbol.starts_with("___pthread");
}

} // namespace

std::string_view normalisedView(std::string_view symbol)
{
    if (isPlain(symbol))
        return symbol;
    std::string_view name = symbol;
    dropTags(name);
    // Dot and name of a stub section are significant: `.text.lock.dcache` names a file.
    if (name.starts_with(".text.lock."))
        return name;
    dropSymbolVersion(name);
    while (dropCompilerEnding(name)) { }
    dropRustHash(name);
    dropPrefix(name, ".");
    dropPrefix(name, "__GI_");
    if (name.starts_with("___pthread"))
        name.remove_prefix(3);
    return name;
}

} // namespace whichlock
