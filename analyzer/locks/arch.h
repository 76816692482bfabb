// SPDX-License-Identifier: GPL-3.0-or-later
// Processor architectures of table rows and of profiles, as sets.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace whichlock {

/// A set of processors, and of environments (xen, hyperv ...), which say where a symbol occurs but exclude
/// nothing: a Xen guest has the symbols of its processor too.
class ArchSet {
public:
    constexpr ArchSet() = default;

    /// Reads a comma list of the tokens that lock_routines.tsv defines; nothing if one is not known.
    static std::optional<ArchSet> parse(std::string_view commaList);
    /// Reads the name a profile gives its machine (`i686`, `x86_64`, `ppc64le`); empty if it is not known.
    static ArchSet ofMachine(std::string_view machine);

    constexpr bool empty() const { return bits_ == 0; }
    /// Whether the row holds on all processors.
    constexpr bool all() const { return (bits_ & kAll) != 0; }
    /// Whether a row for this set holds on one of the processors of the other.
    constexpr bool matches(ArchSet machine) const
    {
        return all() || (bits_ & machine.bits_ & kProcessors) != 0;
    }
    /// The same set without its environments.
    constexpr ArchSet processors() const { return ArchSet(bits_ & (kProcessors | kAll)); }

    constexpr bool operator==(const ArchSet&) const = default;

private:
    constexpr explicit ArchSet(uint32_t bits)
        : bits_(bits)
    {
    }

    static constexpr uint32_t kAll = 1U << 31U;
    static constexpr uint32_t kProcessors = (1U << 24U) - 1;

    uint32_t bits_ = 0;
};

} // namespace whichlock
