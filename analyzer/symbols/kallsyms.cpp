// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/kallsyms.h"

#include "parsers/input/batch_pipe.h"
#include "parsers/input/text_scan.h"

#include <algorithm>
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

/// The tokens of a row.
struct RowTokens {
    std::string_view address{};
    std::string_view type{};
    std::string_view name{};
    std::string_view module{};
    bool more = false; ///< there is something behind
};

RowTokens splitRow(std::string_view line)
{
    constexpr size_t kAddress = 16;
    constexpr size_t kName = kAddress + 3;
    // A 64-bit kernel writes all rows alike. There are more than a hundred thousand of them.
    if (line.size() > kName && line[0] > ' ' && line[kAddress] == ' ' && line[kAddress + 1] > ' '
        && line[kAddress + 2] == ' ') {
        if (std::all_of(line.begin() + kName, line.end(), [](char c) { return c > ' '; }))
            return {.address = line.substr(0, kAddress),
                .type = line.substr(kAddress + 1, 1),
                .name = line.substr(kName)};
    }
    RowTokens tokens;
    tokens.address = nextToken(line);
    tokens.type = nextToken(line);
    tokens.name = nextToken(line);
    tokens.module = nextToken(line);
    tokens.more = !nextToken(line).empty();
    return tokens;
}

/// `ffffffff81000000 T _text` and `ffffffffc0000000 t nf_hook<TAB>[nf_tables]`.
Row parseRow(std::string_view line)
{
    Row row;
    const auto [address, type, name, module, more] = splitRow(line);
    row.entry.name = name;
    const auto [end, error] =
        std::from_chars(address.data(), address.data() + address.size(), row.entry.address, 16);
    if (address.empty() || error != std::errc() || end != address.data() + address.size() || type.size() != 1
        || row.entry.name.empty() || more)
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

/// Takes the text in pieces, so that it need not be in memory as a whole.
class KallsymsParser {
public:
    /// Takes the whole lines at the front, and at the end what is left, too. Returns how many bytes those
    /// were.
    size_t take(std::string_view text, bool isEnd)
    {
        size_t done = 0;
        while (done < text.size()) {
            const size_t end = text.find('\n', done);
            if (end == std::string_view::npos && !isEnd)
                break;
            line(text.substr(done, end - done));
            done = std::min(end, text.size() - 1) + 1;
        }
        return done;
    }
    Result<Kallsyms> finish(const std::string& name)
    {
        if (rows_ == 0)
            return fail(DiagnosticCode::SymbolsUnreadable, "holds no kernel symbols", {.chain = name});
        if (!anyAddress_)
            return fail(DiagnosticCode::KallsymsRestricted,
                "all addresses are zero: the kernel hid them (kptr_restrict)", {.chain = name});
        symbols_.functions.finish(AliasRule::LastListed);
        symbols_.objects.finish(AliasRule::LastListed);
        return std::move(symbols_);
    }

private:
    void line(std::string_view line)
    {
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        if (trimmed(line).empty())
            return;
        const Row row = parseRow(line);
        if (row.kind == RowKind::Unreadable) {
            ++symbols_.unreadableLines;
            return;
        }
        ++rows_;
        anyAddress_ |= row.entry.address != 0;
        if (row.kind == RowKind::Function)
            symbols_.functions.add(row.entry);
        else if (row.kind == RowKind::Object)
            symbols_.objects.add(row.entry);
    }

    Kallsyms symbols_;
    bool anyAddress_ = false;
    uint64_t rows_ = 0;
};

/// Hands the content of a regular file over in pieces; `take` returns how many bytes of what it got are done,
/// the others come again with more behind them.
template <class Take> Result<void> readInPieces(const std::string& path, uint64_t most, const Take& take)
{
    struct stat info { };
    // Files of /proc are regular and have size 0.
    if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
        return fail(DiagnosticCode::FileUnreadable, "is no regular file that can be read", {.chain = path});
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return fail(DiagnosticCode::FileUnreadable, "cannot be opened", {.chain = path});
    std::string buffer(256 << 10, '\0');
    size_t filled = 0;
    uint64_t total = 0;
    ssize_t got = 0;
    do {
        if (filled == buffer.size())
            buffer.resize(2 * buffer.size()); // a very long line
        got = ::read(fd, buffer.data() + filled, buffer.size() - filled);
        const size_t more = static_cast<size_t>(std::max<ssize_t>(got, 0));
        filled += more;
        total += more;
        const size_t done = take(std::string_view(buffer).substr(0, filled), got == 0);
        std::copy(buffer.begin() + static_cast<ptrdiff_t>(done),
            buffer.begin() + static_cast<ptrdiff_t>(filled), buffer.begin());
        filled -= done;
    } while (got > 0 && total <= most);
    ::close(fd);
    if (got < 0)
        return fail(DiagnosticCode::ReadFailed, "cannot be read", {.chain = path});
    if (total > most)
        return fail(DiagnosticCode::LimitReached, "is too large for a table of symbols", {.chain = path});
    return {};
}

} // namespace

Result<Kallsyms> parseKallsyms(std::string_view text, const std::string& name)
{
    KallsymsParser parser;
    parser.take(text, true);
    return parser.finish(name);
}

Result<std::string> readSymbolText(const std::string& path, uint64_t most)
{
    std::string text;
    const Result<void> read = readInPieces(path, most, [&](std::string_view piece, bool) {
        text += piece;
        return piece.size();
    });
    if (!read)
        return tl::make_unexpected(read.error());
    return text;
}

Result<Kallsyms> readKallsyms(const std::string& path)
{
    // The kernel takes longer to write its symbols than we take to read them: both at a time.
    constexpr size_t kPieceBytes = 32 << 10;
    KallsymsParser parser;
    std::string text;
    BatchPipe<std::string> pipe([&](const std::string& piece) {
        text += piece;
        text.erase(0, parser.take(text, false));
    });
    const Result<void> read = readInPieces(path, kMostBytes, [&](std::string_view piece, bool) {
        pipe.filling() += piece;
        if (pipe.filling().size() >= kPieceBytes)
            pipe.pass();
        return piece.size();
    });
    pipe.finish();
    if (!read)
        return tl::make_unexpected(read.error());
    parser.take(text, true);
    return parser.finish(path);
}

} // namespace whichlock
