// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/lkp_profile.h"

#include "parsers/formats/lkp_rows.h"

#include <algorithm>
#include <unordered_map>

namespace whichlock::lkp {
namespace {

/// Paths of more functions than this are cut at their outer end.
constexpr size_t kLongestPath = 5;

/// The paths that begin with the same functions.
struct Beginning {
    size_t path = 0; ///< the only one, if it is
    size_t count = 0;
    bool unclear = false; ///< something lies below one of them, and it cannot be told of which
};

using Beginnings = std::unordered_map<std::string_view, Beginning>;

/// The first functions of a path, or all from one on: both are parts of its text.
std::string_view firstOf(std::string_view path, std::string_view last)
{
    return path.substr(0, static_cast<size_t>(last.data() + last.size() - path.data()));
}

std::string_view fromOn(std::string_view path, std::string_view first)
{
    return path.substr(static_cast<size_t>(first.data() - path.data()));
}

/// The nearest printed path that this one lies below.
Beginning* nearestAbove(Beginnings& beginnings, const std::vector<CallPath>& paths, size_t index)
{
    const std::string_view path = paths[index].path;
    const auto functions = functionsOf(path);
    for (size_t i = 1; i < functions.size(); ++i) {
        const std::string_view callers = fromOn(path, functions[i]);
        const auto found = beginnings.find(callers);
        if (found == beginnings.end() || (found->second.count == 1 && found->second.path == index))
            continue;
        // A path that is not cut ends at the root, and so does what it lies below.
        if (functions.size() < kLongestPath && found->second.count == 1
            && paths[found->second.path].path.size() != callers.size())
            continue;
        return &found->second;
    }
    return nullptr;
}

} // namespace

void takeApart(std::vector<CallPath>& paths)
{
    Beginnings beginnings;
    for (size_t i = 0; i < paths.size(); ++i) {
        paths[i].own = paths[i].shares;
        const std::string_view path = paths[i].path;
        for (const std::string_view function : functionsOf(path)) {
            Beginning& beginning = beginnings[firstOf(path, function)];
            beginning.path = i;
            ++beginning.count;
        }
    }
    for (size_t i = 0; i < paths.size(); ++i) {
        Beginning* above = nearestAbove(beginnings, paths, i);
        if (above == nullptr)
            continue;
        if (above->count > 1) {
            above->unclear = true;
            continue;
        }
        CallPath& parent = paths[above->path];
        parent.hasPathsBelow = true;
        for (size_t side = 0; side < parent.own.size(); ++side)
            parent.own[side].ppb = std::max<int64_t>(0, parent.own[side].ppb - paths[i].shares[side].ppb);
    }
    for (CallPath& one : paths) {
        const std::string_view path = one.path;
        for (const std::string_view function : functionsOf(path)) {
            if (beginnings[firstOf(path, function)].unclear) {
                one.hasPathsBelow = true;
                std::fill(one.own.begin(), one.own.end(), Share{});
            }
        }
    }
}

} // namespace whichlock::lkp
