// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/source_argument.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <dwarf.h>
#include <filesystem>
#include <fstream>

namespace whichlock::bench {
namespace {

bool isNameChar(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool isLockCall(std::string_view name)
{
    if (name.find("down_") != std::string_view::npos)
        return lockEntryOf(name, true).has_value();
    if (name.starts_with("raw_"))
        name.remove_prefix(4);
    while (name.starts_with('_'))
        name.remove_prefix(1);
    constexpr std::array<std::string_view, 8> kBegins = {"spin_lock", "spin_trylock", "read_lock",
        "read_trylock", "write_lock", "write_trylock", "mutex_lock", "mutex_trylock"};
    if (name.find("unlock") != std::string_view::npos || name.ends_with("_held"))
        return false;
    return std::ranges::any_of(kBegins, [&](std::string_view begin) { return name.starts_with(begin); })
        || name.starts_with("read_seqlock_excl") || name.starts_with("write_seqlock")
        || name.starts_with("rt_mutex_lock") || name == "down";
}

/// From behind an opening parenthesis to the first comma or the closing one.
std::string firstArgument(std::string_view text)
{
    std::string argument;
    int depth = 0;
    for (const char c : text) {
        if (c == '(' || c == '[')
            ++depth;
        if ((c == ')' || c == ']') && depth-- == 0)
            break;
        if (c == ',' && depth == 0)
            break;
        if (std::isspace(static_cast<unsigned char>(c)) == 0)
            argument += c;
    }
    return argument;
}

/// Macros that look like members.
std::vector<std::string> expandedMember(const std::string& name)
{
    if (name == "d_lock")
        return {"d_lockref", "lock"};
    if (name == "rss_lock")
        return {"gp_wait", "lock"};
    if (name == "tcf_lock")
        return {"common", "tcfa_lock"};
    return {name};
}

/// Walks a source expression through the types of variables and members.
class ExpressionWalk {
public:
    ExpressionWalk(LockNamer& namer, FunctionModel& function, uint64_t address, std::string text)
        : types_(namer.types())
        , function_(function)
        , address_(address)
        , text_(std::move(text))
    {
        types_.setUnit(&function.unit().types(), &function.unit().scopes());
    }

    std::optional<std::string> run()
    {
        while (at_ < text_.size() && (text_[at_] == '&' || text_[at_] == '('))
            ++at_;
        const std::string name = takeName();
        if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 || !start(name))
            return std::nullopt;
        while (at_ < text_.size())
            if (!step())
                return std::nullopt;
        if (types_.isPointer(type_))
            return std::nullopt;
        if (local_)
            return std::nullopt;
        if (path_.empty() && !elementOf_.empty())
            return elementOf_;
        return owner_ + (owner_.empty() || path_.empty() || !member_ ? "" : "::") + path_;
    }

private:
    std::string takeName()
    {
        const size_t begin = at_;
        while (at_ < text_.size() && isNameChar(text_[at_]))
            ++at_;
        return text_.substr(begin, at_ - begin);
    }

    bool start(const std::string& name)
    {
        for (const int32_t scope : function_.scopesAt(address_))
            for (const FunctionVariable& variable : function_.variables())
                if (variable.scope == scope && variable.name == name)
                    return startAt(variable.die, name, !fixedAddressOf(variable.die).has_value());
        const auto global = function_.unit().variable(name);
        return global && startAt(*global, name, false);
    }

    bool startAt(Dwarf_Die die, const std::string& name, bool local)
    {
        const auto type = typeOf(die);
        if (!type)
            return false;
        type_ = *type;
        path_ = name;
        local_ = local;
        return true;
    }

    bool step()
    {
        if (text_[at_] == ')') {
            ++at_;
            return true;
        }
        if (text_[at_] == '[')
            return stepIndex();
        const bool arrow = text_.compare(at_, 2, "->") == 0;
        if (!arrow && text_[at_] != '.')
            return false;
        at_ += arrow ? 2 : 1;
        const std::string name = takeName();
        if (name.empty() || (arrow && !follow()))
            return false;
        for (const std::string& member : expandedMember(name))
            if (!stepMember(member))
                return false;
        return true;
    }

    bool follow()
    {
        auto target = types_.pointee(type_);
        if (!target) {
            const auto bare = types_.bare(type_);
            Dwarf_Die array = bare ? *bare : Dwarf_Die{};
            if (!bare || dwarf_tag(&array) != DW_TAG_array_type)
                return false;
            target = typeOf(array);
        }
        if (!target)
            return false;
        type_ = *target;
        owner_ = types_.nameOf(type_);
        path_.clear();
        member_ = true;
        local_ = false;
        return true;
    }

    bool stepIndex()
    {
        int depth = 0;
        for (; at_ < text_.size(); ++at_) {
            depth += text_[at_] == '[' ? 1 : text_[at_] == ']' ? -1 : 0;
            if (depth == 0)
                break;
        }
        if (at_ >= text_.size())
            return false;
        ++at_;
        const auto bare = types_.bare(type_);
        Dwarf_Die array = bare ? *bare : Dwarf_Die{};
        if (bare && dwarf_tag(&array) == DW_TAG_array_type) {
            const auto element = typeOf(array);
            if (element)
                type_ = *element;
            return element.has_value();
        }
        const std::string holder = owner_ + (owner_.empty() || !member_ ? "" : "::") + path_;
        const bool local = local_;
        if (!follow())
            return false;
        elementOf_ = local ? std::string() : holder;
        return true;
    }

    bool stepMember(const std::string& name)
    {
        const auto found = memberOf(type_, name, 0);
        if (!found)
            return false;
        type_ = *found;
        path_ += (path_.empty() ? "" : ".") + name;
        return true;
    }

    std::optional<Dwarf_Die> memberOf(Dwarf_Die structure, const std::string& name, int depth)
    {
        constexpr int kMostDepth = 8;
        const auto bare = types_.bare(structure);
        if (!bare || !types_.isStruct(*bare) || depth > kMostDepth)
            return std::nullopt;
        for (const TypeMember& member : types_.membersOf(*bare))
            if (member.name == name)
                return member.type;
        for (const TypeMember& member : types_.membersOf(*bare))
            if (member.name.empty())
                if (const auto inner = memberOf(member.type, name, depth + 1))
                    return inner;
        return std::nullopt;
    }

    DwarfTypes& types_;
    FunctionModel& function_;
    uint64_t address_ = 0;
    std::string text_;
    size_t at_ = 0;
    Dwarf_Die type_{};
    std::string owner_;
    std::string path_;
    std::string elementOf_; ///< what a pointer was indexed that leads to the lock itself
    bool member_ = false;   ///< the path is one of members of owner_
    bool local_ = false;
};

std::string withoutIndexes(const std::string& text)
{
    std::string result;
    int depth = 0;
    for (const char c : text) {
        depth += c == '[' ? 1 : 0;
        if (depth == 0)
            result += c;
        depth -= c == ']' ? 1 : 0;
    }
    return result;
}

bool endsWithMember(const std::string& whole, const std::string& tail)
{
    return whole.size() > tail.size() && whole.ends_with(tail)
        && whole[whole.size() - tail.size() - 1] == '.';
}

uint64_t numberOf(Dwarf_Die die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    return dwarf_formudata(dwarf_attr(&die, name, &attribute), &value) == 0 ? value : 0;
}

} // namespace

std::vector<SourcePlace> placesOf(LockNamer& namer, uint64_t address)
{
    std::vector<SourcePlace> places;
    FunctionModel* function = namer.functionAt(address);
    if (function == nullptr)
        return places;
    Dwarf_Die root = function->unit().root();
    Dwarf_Files* files = nullptr;
    size_t fileCount = 0;
    dwarf_getsrcfiles(&root, &files, &fileCount);
    SourcePlace place;
    if (Dwarf_Line* line = dwarf_getsrc_die(&root, address)) {
        int number = 0;
        dwarf_lineno(line, &number);
        const char* file = dwarf_linesrc(line, nullptr, nullptr);
        place.file = file != nullptr ? file : "";
        place.line = static_cast<uint32_t>(number);
    }
    for (const int32_t number : function->scopesAt(address)) {
        const FunctionScope& scope = function->scopes()[static_cast<size_t>(number)];
        if (scope.block)
            continue;
        place.function = scope.name;
        places.push_back(place);
        const uint64_t file = numberOf(scope.die, DW_AT_call_file);
        const char* name = file < fileCount ? dwarf_filesrc(files, file, nullptr, nullptr) : nullptr;
        place.file = name != nullptr ? name : "";
        place.line = static_cast<uint32_t>(numberOf(scope.die, DW_AT_call_line));
    }
    return places;
}

const std::vector<std::string>& SourceTree::linesOf(const std::string& recordedPath)
{
    const auto [entry, isNew] = files_.try_emplace(recordedPath);
    if (!isNew)
        return entry->second;
    // The folder that the recorded path begins with is that of the build: leave out parts until the file is
    // there.
    std::string_view rest = recordedPath;
    while (!rest.empty()) {
        const std::string path = root_ + "/" + std::string(rest);
        if (std::filesystem::is_regular_file(path)) {
            std::ifstream stream(path);
            for (std::string text; std::getline(stream, text);)
                entry->second.push_back(text);
            break;
        }
        const size_t slash = rest.find('/');
        rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
    }
    return entry->second;
}

std::string SourceTree::line(const std::string& recordedPath, uint32_t number)
{
    const auto& lines = linesOf(recordedPath);
    return number >= 1 && number <= lines.size() ? lines[number - 1] : std::string();
}

std::optional<std::string> SourceTree::lockArgument(const std::string& recordedPath, uint32_t number)
{
    constexpr size_t kMostLines = 5;
    const auto& lines = linesOf(recordedPath);
    if (number < 1 || number > lines.size())
        return std::nullopt;
    std::string text;
    for (size_t i = number - 1; i < std::min<size_t>(lines.size(), number - 1 + kMostLines); ++i)
        text += lines[i] + "\n";
    const size_t end = lines[number - 1].size();
    for (size_t at = 0; at < end;) {
        if (!isNameChar(text[at])) {
            ++at;
            continue;
        }
        const size_t begin = at;
        while (at < text.size() && isNameChar(text[at]))
            ++at;
        const std::string name = text.substr(begin, at - begin);
        while (at < text.size() && text[at] == ' ')
            ++at;
        if (at < text.size() && text[at] == '(' && isLockCall(name))
            if (std::string argument = firstArgument(std::string_view(text).substr(at + 1));
                !argument.empty())
                return argument;
    }
    return std::nullopt;
}

std::optional<std::string> lockOfExpression(LockNamer& namer, uint64_t address, const std::string& expression)
{
    FunctionModel* function = namer.functionAt(address);
    return function != nullptr ? ExpressionWalk(namer, *function, address, expression).run() : std::nullopt;
}

Agreement compareLocks(const std::string& source, const std::string& named)
{
    std::string truth = withoutIndexes(source);
    std::string found = withoutIndexes(named);
    const auto pathOf = [](const std::string& text) {
        const size_t at = text.find("::");
        return at == std::string::npos ? text : text.substr(at + 2);
    };
    // Statics of functions are named with their function.
    if (truth.find("::") == std::string::npos && !found.starts_with("struct ")
        && !found.starts_with("union "))
        found = pathOf(found);
    // The source passes a pointer to the first lock of an array, or a seqlock as a whole.
    if (found == truth || found == truth + ".lock" || found == truth + ".xa_lock")
        return Agreement::Exact;
    const std::string truthPath = pathOf(truth);
    const std::string foundPath = pathOf(found);
    if (truthPath == foundPath)
        return Agreement::OtherOwner;
    return endsWithMember(foundPath, truthPath) || endsWithMember(truthPath, foundPath)
        ? Agreement::LargerOwner
        : Agreement::Differs;
}

} // namespace whichlock::bench
