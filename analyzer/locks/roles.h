// SPDX-License-Identifier: GPL-3.0-or-later
// What a symbol does about locks: the roles of lock_routines.tsv, whose comment head defines each.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace whichlock {

enum class Role : uint16_t {
    AcquireWrapper,
    SlowpathSpin,
    SlowpathBlock,
    OwnerSpin,
    Release,
    IrqRestoreArtefact,
    Idle,
    IdleProbable,
    HypervisorYield,
    Atomic,
    OtherWait,
    SkipFrame,
    SiteHint,
};

/// The names of the roles as the table spells them, in the order of the enumerators.
inline constexpr std::array<std::string_view, 13> kRoleNames = {"acquire-wrapper", "slowpath-spin",
    "slowpath-block", "owner-spin", "release", "irq-restore-artefact", "idle", "idle-probable",
    "hypervisor-yield", "atomic", "other-wait", "skip-frame", "site-hint"};

/// The name of a role as the table spells it: `slowpath-spin`.
constexpr std::string_view roleName(Role role)
{
    return kRoleNames[static_cast<size_t>(role)];
}

/// The role of that name, if there is one.
constexpr std::optional<Role> roleFromName(std::string_view name)
{
    for (size_t index = 0; index < kRoleNames.size(); ++index) {
        if (kRoleNames[index] == name)
            return static_cast<Role>(index);
    }
    return std::nullopt;
}

/// A set of roles.
class Roles {
public:
    constexpr Roles() = default;
    constexpr explicit Roles(Role role)
        : bits_(bit(role))
    {
    }

    constexpr void add(Role role) { bits_ = static_cast<uint16_t>(bits_ | bit(role)); }
    constexpr bool has(Role role) const { return (bits_ & bit(role)) != 0; }
    constexpr bool empty() const { return bits_ == 0; }
    constexpr int size() const { return std::popcount(bits_); }
    /// Whether CPU time may be contention: the routine spins, or has the loop of its owner spin inlined.
    constexpr bool spins() const { return has(Role::SlowpathSpin) || has(Role::OwnerSpin); }
    constexpr bool operator==(const Roles&) const = default;

private:
    static constexpr uint16_t bit(Role role)
    {
        return static_cast<uint16_t>(1U << static_cast<unsigned>(role));
    }

    uint16_t bits_ = 0;
};

} // namespace whichlock
