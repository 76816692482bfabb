// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/locks/arch.h"

#include <array>

namespace whichlock {

namespace {

enum Bit : uint32_t {
    I386 = 1U << 0U,
    X86_64 = 1U << 1U,
    Ia64 = 1U << 2U,
    Ppc32 = 1U << 3U,
    Ppc64 = 1U << 4U,
    Arm = 1U << 5U,
    Arm64 = 1U << 6U,
    Sparc = 1U << 7U,
    Sparc64 = 1U << 8U,
    S390 = 1U << 9U,
    Alpha = 1U << 10U,
    Mips = 1U << 11U,
    Parisc = 1U << 12U,
    Riscv = 1U << 13U,
    Loongarch = 1U << 14U,
    Xen = 1U << 24U,
    KvmGuest = 1U << 25U,
    KvmHost = 1U << 26U,
    Hyperv = 1U << 27U,
    Iseries = 1U << 28U,
    Cell = 1U << 29U,
    All = 1U << 31U,
};

struct Token {
    std::string_view name;
    uint32_t bits;
};

constexpr std::array<Token, 24> kTokens = {
    {{"all", All}, {"i386", I386}, {"x86", I386 | X86_64}, {"x86_64", X86_64}, {"ia64", Ia64},
        {"ppc32", Ppc32}, {"ppc64", Ppc64}, {"powerpc", Ppc32 | Ppc64}, {"arm", Arm}, {"arm64", Arm64},
        {"sparc", Sparc}, {"sparc64", Sparc64}, {"s390", S390}, {"alpha", Alpha}, {"mips", Mips},
        {"parisc", Parisc}, {"riscv", Riscv}, {"loongarch", Loongarch}, {"xen", Xen}, {"kvm-guest", KvmGuest},
        {"kvm-host", KvmHost}, {"hyperv", Hyperv}, {"iseries", Iseries}, {"cell", Cell}}};

/// What `uname -m`, perf and package names say.
constexpr std::array<Token, 20> kMachines = {{{"i486", I386}, {"i586", I386}, {"i686", I386},
    {"amd64", X86_64}, {"x86-64", X86_64}, {"aarch64", Arm64}, {"armv5tel", Arm}, {"armv6l", Arm},
    {"armv7l", Arm}, {"armhf", Arm}, {"ppc", Ppc32}, {"ppc64le", Ppc64}, {"ppc64el", Ppc64}, {"s390x", S390},
    {"mips64", Mips}, {"parisc64", Parisc}, {"hppa", Parisc}, {"riscv64", Riscv}, {"loongarch64", Loongarch},
    {"itanium", Ia64}}};

template <size_t n> uint32_t bitsOf(const std::array<Token, n>& tokens, std::string_view name)
{
    for (const Token& token : tokens) {
        if (token.name == name)
            return token.bits;
    }
    return 0;
}

} // namespace

std::optional<ArchSet> ArchSet::parse(std::string_view commaList)
{
    uint32_t bits = 0;
    while (true) {
        const size_t comma = commaList.find(',');
        const uint32_t token = bitsOf(kTokens, commaList.substr(0, comma));
        if (token == 0)
            return std::nullopt;
        bits |= token;
        if (comma == std::string_view::npos)
            return ArchSet(bits);
        commaList.remove_prefix(comma + 1);
    }
}

ArchSet ArchSet::ofMachine(std::string_view machine)
{
    const uint32_t bits = bitsOf(kTokens, machine) | bitsOf(kMachines, machine);
    return ArchSet(bits & kProcessors);
}

} // namespace whichlock
