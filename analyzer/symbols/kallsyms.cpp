// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/kallsyms.h"

#include "parsers/input/text_scan.h"

#include <charconv>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace whichlock {
namespace {

constexpr uint64_t kMostBytes = 256 << 20;

enum class RowKind : uint8_t { Unreadable, Function, Object, Other };

struct Row {
    RowKind kind = RowKind::Unreadable;
    SymbolEntry entry{};
};

/// Letters as nm prints them. Absolute symbols are offsets and constants, no places.
RowKind kindOf(char type)
{
    switch (type) {
    case 't':
    case 'T':
    case 'w':
    case 'W':
    case 'i':
        return RowKind::Function;
    case 'd':
    case 'D':
    case 'b':
    case 'B':
    case 'r':
    case 'R':
    case 'v':
    case 'V':
    case 'g':
    case 'G':
    case 's':
    case 'S':
        return RowKind::Object;
    default:
        return isHexDigit(type) || (type | 0x20) >= 'a' || type == '?' || type == '-' ? RowKind::Other
                                                                                      : RowKind::Unreadable;
    }
}

/// Marks of sections, compiler markers, and padding before a function are no functions.
bool isNoName(std::string_view name)
{
    return name.starts_with("__ksymtab") || name.starts_with("__kcrctab") || name.starts_with("__kstrtab")
        || name.starts_with('$') || name.starts_with(".L") || name.starts_with("__pfx_")
        || name.starts_with("__cfi_");
}

/// `ffffffff81000000 T _text` and `ffffffffc0000000 t nf_hook<TAB>[nf_tables]`.
Row parseRow(std::string_view line)
{
    Row row;
    const std::string_view address = nextToken(line);
    const std::string_view type = nextToken(line);
    row.entry.name = nextToken(line);
    const std::string_view module = nextToken(line);
    const auto [end, error] =
        std::from_chars(address.data(), address.data() + address.size(), row.entry.address, 16);
    if (address.empty() || error != std::errc() || end != address.data() + address.size() || type.size() != 1
        || row.entry.name.empty() || !nextToken(line).empty())
        return row;
    if (module.size() > 2 && module.front() == '[' && module.back() == ']')
        row.entry.module = module.substr(1, module.size() - 2);
    else if (!module.empty())
        return row;
    row.kind = isNoName(row.entry.name) ? RowKind::Other : kindOf(type[0]);
    const bool weak = type[0] == 'w' || type[0] == 'W' || type[0] == 'v' || type[0] == 'V';
    const bool upper = type[0] >= 'A' && type[0] <= 'Z';
    row.entry.binding = weak ? SymbolBinding::Weak : upper ? SymbolBinding::Global : SymbolBinding::Local;
    row.entry.limit = SymbolEntry::kNoLimit;
    return row;
}

} // namespace

Result<Kallsyms> parseKallsyms(std::string_view text, const std::string& name)
{
    Kallsyms symbols;
    bool anyAddress = false;
    uint64_t rows = 0;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        if (trimmed(line).empty())
            continue;
        const Row row = parseRow(line);
        if (row.kind == RowKind::Unreadable) {
            ++symbols.unreadableLines;
            continue;
        }
        ++rows;
        anyAddress |= row.entry.address != 0;
        if (row.kind == RowKind::Function)
            symbols.functions.add(row.entry);
        else if (row.kind == RowKind::Object)
            symbols.objects.add(row.entry);
    }
    if (rows == 0)
        return fail(DiagnosticCode::SymbolsUnreadable, "holds no kernel symbols", {.chain = name});
    if (!anyAddress)
        return fail(DiagnosticCode::KallsymsRestricted,
            "all addresses are zero: the kernel hid them (kptr_restrict)", {.chain = name});
    symbols.functions.finish(AliasRule::LastListed);
    symbols.objects.finish(AliasRule::LastListed);
    return symbols;
}

Result<std::string> readSymbolText(const std::string& path, uint64_t most)
{
    struct stat info { };
    // Files of /proc are regular and have size 0.
    if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
        return fail(DiagnosticCode::FileUnreadable, "is no regular file that can be read", {.chain = path});
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return fail(DiagnosticCode::FileUnreadable, "cannot be opened", {.chain = path});
    std::string text;
    constexpr size_t kPiece = 1 << 20;
    ssize_t got = 0;
    do {
        const size_t before = text.size();
        text.resize(before + kPiece);
        got = ::read(fd, text.data() + before, kPiece);
        text.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    } while (got > 0 && text.size() <= most);
    ::close(fd);
    if (got < 0)
        return fail(DiagnosticCode::ReadFailed, "cannot be read", {.chain = path});
    if (text.size() > most)
        return fail(DiagnosticCode::LimitReached, "is too large for a table of symbols", {.chain = path});
    return text;
}

Result<Kallsyms> readKallsyms(const std::string& path)
{
    auto text = readSymbolText(path, kMostBytes);
    if (!text)
        return tl::make_unexpected(text.error());
    return parseKallsyms(*text, path);
}

} // namespace whichlock
