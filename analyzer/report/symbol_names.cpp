// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/symbol_names.h"

namespace whichlock {

SymbolNames::SymbolNames(const Profile& profile, const Section& section)
    : profile_(profile)
{
    for (const Cell& cell : section.cells) {
        if (!cell.stack)
            continue;
        const Frame& frame = profile.frame(profile.stack(cell.stack).frame);
        const auto [entry, isNew] = objectOf_.try_emplace(frame.symbol.v, frame.object);
        if (!isNew && entry->second != frame.object)
            entry->second = {};
    }
}

std::string SymbolNames::of(StackId stack) const
{
    if (!stack)
        return "[no frames]";
    const Frame& frame = profile_.frame(profile_.stack(stack).frame);
    const std::string_view symbol = profile_.string(frame.symbol);
    const std::string_view object = profile_.string(frame.object);
    if (object.empty() || symbol == object)
        return std::string(symbol);
    if (symbol == "(no symbols)" || symbol == "[unknown]")
        return object == symbol || object == "[unknown]" ? std::string(symbol)
                                                         : std::string(object) + ' ' + std::string(symbol);
    if (!objectOf_.at(frame.symbol.v))
        return std::string(symbol) + " [" + std::string(object) + ']';
    return std::string(symbol);
}

} // namespace whichlock
