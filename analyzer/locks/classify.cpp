// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/locks/classify.h"

#include <algorithm>
#include <array>

namespace whichlock {
namespace {

/// The name under which a wrapper, its slow path and its release are compared. Locks of the kernel say
/// nothing about those of user space.
std::string familyOf(const Routine& routine)
{
    const std::string_view primitive = routine.primitive;
    if (!routine.isKernel())
        return "user " + std::string(primitive);
    if (primitive == "qspinlock" || primitive == "ticket" || primitive.starts_with("spinlock"))
        return "spinlock";
    if (primitive == "qrwlock" || primitive.starts_with("rwlock"))
        return "rwlock";
    return std::string(primitive);
}

bool isInterruptEntry(std::string_view symbol)
{
    constexpr std::array<std::string_view, 10> kPrefixes = {"asm_sysvec_", "sysvec_", "asm_common_interrupt",
        "common_interrupt", "apic_timer_interrupt", "do_IRQ", "ret_from_intr", "irq_exit", "__do_softirq",
        "smp_apic_timer_interrupt"};
    return std::any_of(kPrefixes.begin(), kPrefixes.end(),
        [&](std::string_view prefix) { return symbol.starts_with(prefix); });
}

bool isLockRoutine(const Roles& roles)
{
    for (const Role role : {Role::AcquireWrapper, Role::SlowpathSpin, Role::SlowpathBlock, Role::OwnerSpin,
             Role::HypervisorYield, Role::SkipFrame}) {
        if (roles.has(role))
            return true;
    }
    return false;
}

/// The row that speaks for a symbol: a release stays a release, waiting comes before the rest.
int precedence(const Routine& row)
{
    if (row.isSiteHint())
        return 0;
    if (row.roles.has(Role::Release))
        return 6;
    if (row.roles.spins())
        return 5;
    if (row.roles.has(Role::AcquireWrapper) || row.roles.has(Role::SlowpathBlock))
        return 4;
    if (row.roles.has(Role::Idle))
        return 3;
    return 1;
}

} // namespace

std::string_view categoryName(Category category)
{
    switch (category) {
    case Category::Idle:
        return "idle";
    case Category::IdleProbable:
        return "idle-probable";
    case Category::Contention:
        return "contention";
    case Category::Undecided:
        return "undecided";
    case Category::Overhead:
        return "overhead";
    case Category::Bounce:
        return "bounce";
    case Category::Artefact:
        return "artefact";
    case Category::OtherWait:
        return "other-wait";
    case Category::Busy:
        return "busy";
    }
    return "busy";
}

Classifier::Classifier(const Profile& profile, const Section& section, const RoutineTable& routines,
    const RecordingContext& context)
    : profile_(profile)
    , routines_(routines)
    , context_(context)
{
    collectFamilies(section);
}

const SymbolFacts& Classifier::factsOf(StringId symbol)
{
    const auto [entry, isNew] = facts_.try_emplace(symbol.v);
    SymbolFacts& facts = entry->second;
    if (!isNew || !symbol)
        return facts;
    const std::string_view name = profile_.string(symbol);
    for (const Routine* row : routines_.find(name, context_.lookup())) {
        if (row->isSiteHint())
            continue;
        if (facts.routine == nullptr || precedence(*row) > precedence(*facts.routine)) {
            facts.routine = row;
            facts.roles = row->roles;
        }
    }
    facts.interruptEntry = isInterruptEntry(name);
    return facts;
}

void Classifier::collectFamilies(const Section& section)
{
    const KernelVersion queued = *KernelVersion::parse("4.2");
    outOfLineEra_ = context_.era && context_.era->since && !(*context_.era->since < queued);
    for (const Cell& cell : section.cells) {
        if (!cell.stack)
            continue;
        const SymbolFacts& facts = factsOf(profile_.frame(profile_.stack(cell.stack).frame).symbol);
        if (facts.routine == nullptr)
            continue;
        Family& family = families_[familyOf(*facts.routine)];
        if (facts.routine->primitive == "qspinlock")
            outOfLineEra_ = true;
        const Roles& roles = facts.roles;
        if (roles.has(Role::Release))
            family.releases += cell.weight;
        else if (roles.has(Role::AcquireWrapper))
            family.wrappers += cell.weight;
        else if (roles.has(Role::HypervisorYield))
            family.lockYield = family.lockYield || roles.has(Role::SlowpathSpin);
        else if (roles.has(Role::SlowpathSpin))
            family.slowPath = true;
    }
    // A yield for `spinlock,rwlock` speaks for both.
    for (auto& [name, family] : families_) {
        if (family.lockYield && name == "spinlock")
            families_["rwlock"].lockYield = true;
    }
}

/// The loop of these wrappers may be inside them: waiting, or the price of the call?
Category Classifier::categoryOfWrapper(const Routine& routine) const
{
    const auto found = families_.find(familyOf(routine));
    if (found == families_.end())
        return Category::Overhead;
    const Family& family = found->second;
    const bool spinLock = found->first == "spinlock" || found->first == "rwlock";
    if (family.lockYield)
        return Category::Contention;
    if (family.slowPath || (spinLock && outOfLineEra_))
        return Category::Overhead;
    if (family.releases == 0)
        return Category::Undecided;
    // Lock and unlock cost about the same; twice as much is clearly more.
    return family.wrappers / 2 > family.releases ? Category::Contention : Category::Overhead;
}

Category Classifier::categoryOfLeaf(const SymbolFacts& facts) const
{
    if (facts.routine == nullptr)
        return Category::Busy;
    const Roles& roles = facts.roles;
    if (roles.has(Role::Release)) {
        const bool artefact = roles.has(Role::IrqRestoreArtefact) && context_.nmi == NmiSafety::NotSafe;
        return artefact ? Category::Artefact : Category::Overhead;
    }
    if (roles.spins() && roles.has(Role::AcquireWrapper))
        return categoryOfWrapper(*facts.routine);
    if (roles.spins())
        return Category::Contention;
    if (roles.has(Role::AcquireWrapper) || roles.has(Role::SlowpathBlock))
        return Category::Overhead;
    if (roles.has(Role::Idle))
        return Category::Idle;
    if (roles.has(Role::IdleProbable))
        return Category::IdleProbable;
    if (roles.has(Role::IrqRestoreArtefact))
        return context_.nmi == NmiSafety::Safe ? Category::Busy : Category::Artefact;
    if (roles.has(Role::Atomic))
        return Category::Bounce;
    if (roles.has(Role::OtherWait))
        return Category::OtherWait;
    return Category::Busy;
}

/// From the frame outwards to the first that is no lock routine: never a fixed number of frames.
StackId Classifier::siteOf(StackId stack)
{
    while (stack) {
        const Stack& node = profile_.stack(stack);
        if (!isLockRoutine(factsOf(profile_.frame(node.frame).symbol).roles))
            return stack;
        stack = node.parent;
    }
    return {};
}

/// For leaves that only pass the time (halt, delay, hypervisor call): the spin that they are part of.
StackId Classifier::waitingAncestor(StackId leaf)
{
    for (StackId at = profile_.stack(leaf).parent; at; at = profile_.stack(at).parent) {
        const Roles& roles = factsOf(profile_.frame(profile_.stack(at).frame).symbol).roles;
        if (roles.spins() && !roles.has(Role::AcquireWrapper))
            return at;
        if (!isLockRoutine(roles) && !roles.has(Role::Idle))
            return {};
    }
    return {};
}

/// Whether an idle routine stands above the leaf and no interrupt came between them.
bool Classifier::underIdle(StackId leaf)
{
    for (StackId at = leaf; at; at = profile_.stack(at).parent) {
        const SymbolFacts& facts = factsOf(profile_.frame(profile_.stack(at).frame).symbol);
        if (facts.interruptEntry)
            return false;
        if (facts.roles.has(Role::Idle))
            return true;
        if (facts.roles.spins())
            return false;
    }
    return false;
}

StackClass Classifier::classify(StackId stack)
{
    if (!stack)
        return {};
    const SymbolFacts& leaf = factsOf(profile_.frame(profile_.stack(stack).frame).symbol);
    const Category category = categoryOfLeaf(leaf);
    if (category == Category::Contention || category == Category::Undecided || category == Category::Overhead)
        return {category, leaf.routine, siteOf(stack)};
    const bool passesTime = leaf.roles.has(Role::Idle) || leaf.roles.has(Role::HypervisorYield)
        || leaf.roles.has(Role::SkipFrame);
    if (passesTime) {
        if (const StackId spin = waitingAncestor(stack))
            return {Category::Contention, factsOf(profile_.frame(profile_.stack(spin).frame).symbol).routine,
                siteOf(spin)};
    }
    if (category != Category::Idle && underIdle(stack))
        return {Category::Idle, leaf.routine, {}};
    return {category, leaf.routine, {}};
}

} // namespace whichlock
