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
    return symbol.ends_with("_interrupt")
        || std::any_of(kPrefixes.begin(), kPrefixes.end(),
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

/// Whether an inlined function between a lock routine and its caller is a wrapper by its name: the own lock
/// class or guard of a program (`Spin::lock`, `Guard<Spin>::Guard`).
bool namesAWrapper(std::string_view name)
{
    int depth = 0; // of template arguments, which name other things
    for (size_t end = name.size(); end-- > 0;) {
        depth += name[end] == '>' ? 1 : name[end] == '<' ? -1 : 0;
        if (depth == 0 && name[end] == ':') {
            name.remove_prefix(end + 1);
            break;
        }
    }
    name = name.substr(0, name.find_first_of("<("));
    constexpr std::array<std::string_view, 8> kWords = {
        "lock", "Lock", "guard", "Guard", "acquire", "Acquire", "mutex", "Mutex"};
    return std::any_of(kWords.begin(), kWords.end(),
        [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
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
    printedOnly_ = section.record.unit == Unit::Percent;
    outOfLineEra_ = context_.era && context_.era->since && !(*context_.era->since < queued);
    for (const Cell& cell : section.cells) {
        if (!cell.stack)
            continue;
        const bool waitLoop = profile_.frame(profile_.stack(cell.stack).frame).waitLoop;
        const Frame& leaf = profile_.frame(profile_.stack(speakingFrame(cell.stack)).frame);
        const SymbolFacts& facts = factsOf(leaf.symbol);
        if (facts.routine == nullptr)
            continue;
        Family& family = families_[familyOf(*facts.routine)];
        if (facts.routine->primitive == "qspinlock")
            outOfLineEra_ = true;
        const Roles& roles = facts.roles;
        const uint64_t heft = printedOnly_ ? static_cast<uint64_t>(cell.printed.ppb) : cell.weight;
        if (roles.has(Role::Release))
            family.releases += heft;
        else if (roles.has(Role::AcquireWrapper) && waitLoop)
            family.slowPath = true;
        else if (roles.has(Role::AcquireWrapper))
            family.wrappers += heft;
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

Category Classifier::categoryOfLeaf(const SymbolFacts& facts, bool waitLoop) const
{
    if (facts.routine == nullptr)
        return Category::Busy;
    const Roles& roles = facts.roles;
    if (waitLoop && roles.has(Role::AcquireWrapper))
        return Category::Contention; // whatever the call costs, it is not spent in its waiting loop
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

/// Helpers that were inlined into a lock routine are parts of it: the innermost frame of the function at hand
/// that a table knows, else the innermost one.
StackId Classifier::speakingFrame(StackId stack)
{
    for (StackId at = stack; at; at = profile_.stack(at).parent) {
        const Frame& frame = profile_.frame(profile_.stack(at).frame);
        if (factsOf(frame.symbol).routine != nullptr)
            return at;
        if (!frame.inlined)
            break;
    }
    return stack;
}

/// Whether an inlined frame is a part of a lock routine that it was inlined into.
bool Classifier::isPartOfLockRoutine(StackId inlined)
{
    constexpr int kMostDepth = 64; // compilers stop long before
    StackId at = inlined;
    for (int depth = 0; at && depth < kMostDepth; ++depth) {
        const Frame& frame = profile_.frame(profile_.stack(at).frame);
        if (isLockRoutine(factsOf(frame.symbol).roles))
            return true;
        if (!frame.inlined)
            return false;
        at = profile_.stack(at).parent;
    }
    return false;
}

/// Finds the site: from the lock routine outwards the first frame that is no lock routine, never a fixed
/// number of frames.
StackClass Classifier::lockClass(Category category, const Routine* routine, StackId leaf, StackId from)
{
    StackClass result{.category = category, .routine = routine, .leaf = leaf};
    for (StackId at = from; at; at = profile_.stack(at).parent) {
        const Frame& frame = profile_.frame(profile_.stack(at).frame);
        result.siteBelowMissing = result.siteBelowMissing || frame.calleeMissing;
        const bool wrapper = isLockRoutine(factsOf(frame.symbol).roles)
            || (frame.inlined && (namesAWrapper(profile_.string(frame.symbol)) || isPartOfLockRoutine(at)));
        if (!wrapper) {
            result.site = at;
            return result;
        }
    }
    return result;
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
    const bool waitLoop = profile_.frame(profile_.stack(stack).frame).waitLoop;
    const StackId speaking = speakingFrame(stack);
    const SymbolFacts& leaf = factsOf(profile_.frame(profile_.stack(speaking).frame).symbol);
    const Category category = categoryOfLeaf(leaf, waitLoop);
    if (category == Category::Contention || category == Category::Undecided || category == Category::Overhead)
        return lockClass(category, leaf.routine, speaking, speaking);
    const bool passesTime = leaf.roles.has(Role::Idle) || leaf.roles.has(Role::HypervisorYield)
        || leaf.roles.has(Role::SkipFrame);
    if (passesTime) {
        if (const StackId spin = waitingAncestor(speaking))
            return lockClass(Category::Contention,
                factsOf(profile_.frame(profile_.stack(spin).frame).symbol).routine,
                leaf.roles.has(Role::SkipFrame) ? spin : speaking, spin);
    }
    // A table of percentages has callers for some rows only: all are judged by their own function.
    if (category != Category::Idle && !printedOnly_ && underIdle(stack))
        return {.category = Category::Idle, .routine = leaf.routine, .leaf = speaking};
    return {.category = category,
        .routine = leaf.routine,
        .leaf = speaking,
        .unknownWaitLoop = waitLoop && category == Category::Busy};
}

} // namespace whichlock
