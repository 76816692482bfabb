// SPDX-License-Identifier: GPL-3.0-or-later
// libiberty's demanglers hand their output over piece by piece, unlike __cxa_demangle: a name of 200 bytes
// may stand for gigabytes of text (each part refers to the one before twice), and only the receiver can stop
// that.
#include "analyzer/symbols/demangle.h"

#include <csetjmp>
#include <demangle.h>

namespace whichlock {
namespace {

constexpr size_t kMostMangledBytes = 16 * 1024; // libiberty takes stack in proportion to the length
constexpr size_t kMostReadableBytes = 64 * 1024;

struct Output {
    std::string* text = nullptr;
    std::jmp_buf enough{};
};

extern "C" void takePiece(const char* piece, size_t length, void* opaque)
{
    auto* output = static_cast<Output*>(opaque);
    if (output->text->size() + length > kMostReadableBytes)
        std::longjmp(
            output->enough, 1); // NOLINT(*): C frames without cleanup lie between, and no other way out
    output->text->append(piece, length);
}

/// Whether `text` was filled. No object with a destructor may live here, because of longjmp.
bool runDemangler(const char* symbol, bool rust, std::string* text)
{
    Output output;
    output.text = text;
    if (setjmp(output.enough) != 0) // NOLINT(*)
        return false;
    const int done = rust ? rust_demangle_callback(symbol, DMGL_NO_OPTS, takePiece, &output)
                          : cplus_demangle_v3_callback(symbol, DMGL_NO_OPTS, takePiece, &output);
    return done != 0;
}

/// `_ZN4core9panicking5panic17h0123456789abcdefE`: Rust before its own scheme, a hash as the last part.
bool isLegacyRust(std::string_view symbol)
{
    constexpr std::string_view kHashMark = "17h";
    constexpr size_t kTail = kHashMark.size() + 16 + 1;
    const size_t end = symbol.rfind('E');
    return symbol.starts_with("_ZN") && end != std::string_view::npos && end + 1 >= kTail
        && symbol.substr(end + 1 - kTail, kHashMark.size()) == kHashMark;
}

} // namespace

std::string demangle(std::string_view symbol)
{
    const bool rust = symbol.starts_with("_R") || isLegacyRust(symbol);
    if ((!rust && !symbol.starts_with("_Z")) || symbol.size() > kMostMangledBytes)
        return std::string(symbol);
    std::string mangled(symbol);
    std::string readable;
    if (!runDemangler(mangled.c_str(), rust, &readable)
        && (!isLegacyRust(symbol) || !runDemangler(mangled.c_str(), false, &readable)))
        return mangled;
    return readable;
}

const std::string& DemangleCache::of(std::string_view symbol)
{
    const auto [at, isNew] = names_.try_emplace(std::string(symbol));
    if (isNew)
        at->second = demangle(symbol);
    return at->second;
}

} // namespace whichlock
