// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/load.h"

#include <algorithm>

namespace whichlock {
namespace {

struct Magic {
    std::string_view bytes;
    std::string_view name;
    std::string_view advice;
};

// Inputs that are known and not read yet get a sentence that helps.
constexpr Magic kMagics[] = {
    {"PERFILE2", "perf.data", "use `perf script -i FILE | whichlock report -`"},
    {"2ELIFREP", "perf.data of the other byte order", "use `perf script -i FILE | whichlock report -`"},
    {"PERFFILE", "perf.data of the first version", "use `perf script -i FILE | whichlock report -`"},
    {std::string_view("OPFILE\0\0", 8), "operf.data", "use `opreport -l | whichlock report -`"},
    {"\x1f\x8b", "gzip", "use `gzip -dc FILE | whichlock report -`"},
    {"\xfd"
     "7zXZ",
        "xz", "use `xz -dc FILE | whichlock report -`"},
    {"\x28\xb5\x2f\xfd", "zstd", "use `zstd -dc FILE | whichlock report -`"},
    {"BZh", "bzip2", "use `bzip2 -dc FILE | whichlock report -`"},
    {"\x7f"
     "ELF",
        "an ELF file", "name a profile, not a program"},
};

/// Texts that are known and not read yet, by words that stand in few others.
constexpr Magic kTextSigns[] = {
    {"Shared Data Cache Line Table", "perf c2c", ""},
    {"Full thread dump", "a Java thread dump", ""},
};

/// Bytes that no text has; a few of them are damage, many are a binary file.
bool looksBinary(std::string_view head)
{
    const auto controls = std::count_if(head.begin(), head.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\033';
    });
    constexpr size_t kOneIn = 10;
    return static_cast<size_t>(controls) * kOneIn > head.size();
}

std::optional<Diagnostic> whyNotText(std::string_view head, const std::string& name)
{
    if (head.empty())
        return makeDiagnostic(DiagnosticCode::EmptyInput, "is empty", {.chain = name});
    for (const Magic& magic : kMagics) {
        if (head.starts_with(magic.bytes))
            return makeDiagnostic(DiagnosticCode::KnownButUnread,
                "is " + std::string(magic.name) + ", which is not read yet; " + std::string(magic.advice),
                {.chain = name, .offset = 0});
    }
    if (looksBinary(head))
        return makeDiagnostic(DiagnosticCode::UnknownFormat,
            "is binary and of no known format; nothing was read", {.chain = name, .offset = 0});
    return std::nullopt;
}

Diagnostic whyNothingWasFound(std::string_view head, const std::string& name)
{
    for (const Magic& sign : kTextSigns) {
        if (head.find(sign.bytes) != std::string_view::npos)
            return makeDiagnostic(DiagnosticCode::KnownButUnread,
                "looks like " + std::string(sign.name) + ", which is not read yet"
                    + (sign.advice.empty() ? "" : "; " + std::string(sign.advice)),
                {.chain = name});
    }
    return makeDiagnostic(DiagnosticCode::NoProfileFound,
        "is a text without a profile or table that is known", {.chain = name});
}

/// What an input is named after: a profile before counters beside it, else what takes most lines.
bool betterThan(const FormatScore& a, const FormatScore& b)
{
    return a.yields != b.yields ? a.yields < b.yields : a.lines > b.lines;
}

void chooseFormat(LoadedInput& loaded, std::string_view head)
{
    const FormatScore* best = nullptr;
    for (const FormatScore& score : loaded.scores) {
        if (score.blocks > 0 && (best == nullptr || betterThan(score, *best)))
            best = &score;
    }
    if (best == nullptr) {
        loaded.failed = true;
        loaded.diagnostics.push_back(whyNothingWasFound(head, loaded.name));
        return;
    }
    loaded.format = best->format;
    loaded.confidence = best->best.confidence;
    loaded.why = best->best.why;
}

} // namespace

LoadedInput load(Source& source, RecordSink& sink, const LoadOptions& options)
{
    LoadedInput loaded;
    loaded.name = source.name();
    const auto head = source.head();
    if (!head) {
        loaded.failed = true;
        loaded.diagnostics.push_back(head.error());
        return loaded;
    }
    if (auto reason = whyNotText(*head, source.name())) {
        loaded.failed = true;
        loaded.bytes = std::max<uint64_t>(head->size(), source.sizeBytes());
        loaded.diagnostics.push_back(*reason);
        return loaded;
    }
    std::vector<const TextFormat*> formats;
    for (const TextFormat* format : textFormats()) {
        if (options.onlyFormat.empty() || format->name == options.onlyFormat)
            formats.push_back(format);
    }
    TextCursor cursor(source, loaded.diagnostics);
    loaded.scores = readTextDocument(cursor, sink, formats);
    loaded.bytes = source.bytesRead();
    chooseFormat(loaded, *head);
    return loaded;
}

} // namespace whichlock
