// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/lock_namer.h"

#include "analyzer/naming/lock_evidence.h"
#include "analyzer/naming/type_guess.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

namespace whichlock {
namespace {

/// Entries that reading may touch: a file of a given size has not more of them.
constexpr DwarfBudget kEntriesPerByte = 4;
constexpr DwarfBudget kEntriesAlways = 50'000'000;
constexpr DwarfBudget kEntriesPerQuestion = 200'000;
constexpr size_t kMostFunctionsKept = 48;
constexpr size_t kMostUnitsKept = 48;
constexpr size_t kMostAnswersKept = 4096;
constexpr size_t kMostTermsKept = 200'000;
constexpr int kMostFrames = 24;

/// The value of another function's pool in this one: what came in registers at its entry is in registers at
/// its call. Nothing if it holds anything else.
std::optional<SymbolicValue> atCall(const TermPool& from, const SymbolicValue& value, TermPool& to)
{
    SymbolicValue result = to.constant(value.constant);
    for (const WeightedTerm& one : value.terms) {
        const Term& term = from.term(one.term);
        if (term.kind == TermKind::EntryRegister) {
            result = to.sum(result, to.ofRegister(static_cast<RegisterNumber>(term.number)), one.factor);
        } else if (term.kind == TermKind::Load) {
            const auto inner = atCall(from, term.inner, to);
            if (!inner)
                return std::nullopt;
            result = to.sum(result, to.load(*inner), one.factor);
        } else {
            return std::nullopt;
        }
    }
    return result;
}

/// Whether the function takes the lock for its caller: its own name for it is of little use.
bool isPassedOn(const FunctionModel& function, const NameCandidate& name)
{
    return function.scopes().front().primitive || isGenericOwner(name.owner, function.image().isKernel());
}

/// The name by which a call leaves its module; empty if it does not, or its target is not fixed.
std::string_view calledName(const ModuleImage& image, const Instruction& call)
{
    if (call.target != 0)
        return image.targetName(call.target);
    const bool throughSlot = call.to.kind == OperandKind::Memory && call.to.base >= x86::kRegisters
        && call.to.index >= x86::kRegisters;
    return throughSlot ? image.slotName(static_cast<uint64_t>(call.to.constant)) : std::string_view();
}

/// Whether a call instruction of a module may enter the function: calls through pointers may enter any.
bool mayCall(const ModuleImage& caller, const Instruction& call, const FunctionModel& function)
{
    if (call.operation != Operation::Call)
        return false;
    const bool sameModule = &caller == &function.image();
    if (sameModule && call.target == function.entry())
        return true;
    const std::string_view name = calledName(caller, call);
    if (name.empty())
        return call.target == 0;
    return function.image().isNameOf(name, function.entry());
}

/// The name by the parameter of an inlined lock routine that the call came from.
NameCandidate nameByPrimitive(FunctionModel& function, DwarfTypes& types, LockType kind, uint32_t call)
{
    const uint64_t address = function.code().at(call).address;
    const std::vector<int32_t> active = function.scopesAt(address);
    NameCandidate best;
    for (const VariableLocation& location : function.locations()) {
        const FunctionVariable& variable = function.variables()[location.variable];
        constexpr int32_t kFirstOrders = 2;
        if (!variable.parameter || variable.order >= kFirstOrders || !function.isPrimitives(variable)
            || !function.holds(location, address)
            || std::ranges::find(active, variable.scope) == active.end())
            continue;
        const SymbolicValue value = location.memory ? function.terms().load(location.value) : location.value;
        SliceResult slice = BackwardSlice(function, types, kind).run(call, value);
        if (slice.best.score > best.score)
            best = std::move(slice.best);
    }
    return best;
}

std::string_view methodName(int score)
{
    switch (score) {
    case kContainerGuess:
        return "the one struct of the unit that fits";
    case kFunctionGuess:
        return "the one variable of the function that fits";
    case kPointerGuess:
        return "the one type that a pointer without type may have";
    case kScopeGuess:
        return "the one variable in scope that fits";
    default:
        return "value";
    }
}

bool isGuess(int score)
{
    return score >= kContainerGuess && score <= kScopeGuess
        && (score == kContainerGuess || score == kFunctionGuess || score == kPointerGuess
            || score == kScopeGuess);
}

} // namespace

std::string LockName::text() const
{
    std::string text = lockClass;
    for (const std::string& other : alternatives)
        text += " or " + other;
    return text;
}

struct LockNamer::Unit {
    uint64_t key = 0;
    DwarfUnits::Unit* unit = nullptr;
    Dwarf_Die root{};
    std::unique_ptr<UnitIndex> index;
};

struct LockNamer::State {
    explicit State(bool kernel)
        : types(kernel)
    {
    }

    struct KeptFunction {
        uint64_t unit = 0;
        Dwarf_Off die = 0;
        std::unique_ptr<FunctionModel> model;
    };

    Disassembler disassembler;
    DwarfUnits units;
    DwarfTypes types;
    DwarfBudget budget = 0;
    std::list<Unit> kept; ///< the last used first
    std::list<KeptFunction> functions;
    std::unordered_map<uint64_t, std::optional<LockName>> answers; ///< to questions about single addresses
};

/// What is known after one function.
struct LockNamer::Named {
    NameCandidate name{};
    std::vector<NameCandidate> others{};
    SliceResult slice{};
};

LockNamer::LockNamer(std::unique_ptr<ModuleImage> image, Options options)
    : image_(std::move(image))
    , options_(options)
    , state_(std::make_unique<State>(image_->isKernel()))
{
    state_->budget = image_->sizeBytes() * kEntriesPerByte + kEntriesAlways;
    state_->units.build(image_->dwarf(), state_->budget);
}

LockNamer::~LockNamer()
{
    state_->functions.clear();
}

Result<std::unique_ptr<LockNamer>> LockNamer::open(const ModuleFiles& files, Options options)
{
    auto image =
        ModuleImage::open(files, options.entries != nullptr ? *options.entries : LockEntries::builtIn());
    if (!image)
        return tl::make_unexpected(image.error());
    std::unique_ptr<LockNamer> namer(new LockNamer(std::move(*image), options));
    if (!namer->state_->disassembler.isReady())
        return fail(DiagnosticCode::FileUnreadable, "cannot be disassembled: capstone does not start",
            {.chain = files.code});
    return namer;
}

LockNamer::Unit* LockNamer::unitAt(uint64_t address)
{
    State& state = *state_;
    DwarfUnits::Unit* found = state.units.find(image_->dwarf(), address);
    if (found == nullptr)
        return nullptr;
    for (auto one = state.kept.begin(); one != state.kept.end(); ++one)
        if (one->unit == found) {
            state.kept.splice(state.kept.begin(), state.kept, one);
            return &state.kept.front();
        }
    Unit unit;
    unit.key = found->die;
    unit.unit = found;
    Dwarf_Die unitDie;
    if (!dwarfRoot(image_->dwarf(), *found, unitDie, unit.root))
        return nullptr;
    unit.index = std::make_unique<UnitIndex>(unit.root, state.budget);
    state.kept.push_front(std::move(unit));
    return &state.kept.front();
}

FunctionModel* LockNamer::functionAt(uint64_t address)
{
    State& state = *state_;
    Unit* unit = unitAt(address);
    if (unit == nullptr)
        return nullptr;
    const DwarfRange* range = DwarfUnits::findFunction(*unit->unit, unit->root, address, state.budget);
    if (range == nullptr)
        return nullptr;
    for (auto one = state.functions.begin(); one != state.functions.end(); ++one)
        if (one->unit == unit->key && one->die == range->die) {
            state.functions.splice(state.functions.begin(), state.functions, one);
            return state.functions.front().model.get();
        }
    Dwarf_Die die;
    if (dwarf_offdie(dwarf_cu_getdwarf(unit->root.cu), range->die, &die) == nullptr)
        return nullptr;
    auto model =
        std::make_unique<FunctionModel>(*image_, *unit->index, die, state.disassembler, state.budget);
    state.functions.push_front({unit->key, range->die, std::move(model)});
    return state.functions.front().model.get();
}

DwarfTypes& LockNamer::types()
{
    return state_->types;
}

void LockNamer::trim()
{
    State& state = *state_;
    while (state.functions.size() > kMostFunctionsKept)
        state.functions.pop_back();
    std::erase_if(state.functions,
        [](const State::KeptFunction& one) { return one.model->terms().size() > kMostTermsKept; });
    if (state.kept.size() <= kMostUnitsKept)
        return;
    state.functions.clear();
    state.kept.clear();
    state.types.setUnit(nullptr, nullptr);
    state.types.clear();
}

std::vector<LockCall> LockNamer::findCalls() const
{
    return findLockCalls(*image_);
}

std::optional<LockCall> LockNamer::callAt(uint64_t address)
{
    FunctionModel* function = functionAt(address);
    const auto index = function != nullptr ? function->code().find(address) : std::nullopt;
    return index ? lockCallOf(*image_, function->code().at(*index)) : std::nullopt;
}

std::optional<LockCall> LockNamer::ownLockCallAt(uint64_t address)
{
    const FunctionModel* caller = image_->isKernel() ? nullptr : functionAt(address);
    const auto index = caller != nullptr ? caller->code().find(address) : std::nullopt;
    if (!index)
        return std::nullopt;
    const Instruction call = caller->code().at(*index);
    const FunctionModel* called = call.target != 0 ? functionAt(call.target) : nullptr;
    if (call.operation != Operation::Call || called == nullptr || called->entry() != call.target)
        return std::nullopt;
    const std::string name = called->unit().qualifiedName(called->die());
    const std::string_view plain = std::string_view(name).substr(0, name.find('('));
    const size_t method = plain.rfind("::");
    if (method == std::string_view::npos)
        return std::nullopt;
    const std::string_view scope = plain.substr(0, method);
    const size_t inner = scope.substr(0, scope.find('<')).rfind("::");
    if (!isLockName(inner == std::string_view::npos ? scope : scope.substr(inner + 2)))
        return std::nullopt;
    return LockCall{.address = call.address,
        .entry = {.kind = LockType::OwnLock},
        .routine = image_->targetName(call.target)};
}

std::optional<LockName> LockNamer::nameOfOwnLock(std::span<const ChainSite> callSites)
{
    size_t behind = 0;
    std::optional<LockCall> outermost;
    for (; behind < callSites.size(); ++behind) {
        const ChainSite& site = callSites[behind];
        const auto call = site.module->ownLockCallAt(site.address);
        if (!call)
            break;
        outermost = call;
    }
    if (!outermost)
        return std::nullopt;
    LockName name = callSites[behind - 1].module->nameThroughFrames(*outermost, callSites.subspan(behind));
    name.dependsOnCallers = name.dependsOnCallers || behind > 1;
    name.sitesUsed += behind - 1;
    return name;
}

/// The frame of the function that takes the lock may be missing: it jumped to the lock routine at its end, or
/// the chain was recorded by frame pointers, which the lock routine does not keep. The innermost call site
/// calls that function then; which of its lock calls it was is not known, only what they have in common.
std::optional<LockName> LockNamer::nameInCalled(std::span<const ChainSite> callSites)
{
    constexpr size_t kMostLocks = 4;
    LockNamer& module = *callSites.front().module;
    FunctionModel* caller = module.functionAt(callSites.front().address);
    const auto index = caller != nullptr ? caller->code().find(callSites.front().address) : std::nullopt;
    const uint64_t target = index ? caller->code().at(*index).target : 0;
    FunctionModel* called = target != 0 ? module.functionAt(target) : nullptr;
    if (called == nullptr || called->entry() != target)
        return std::nullopt;
    std::vector<LockCall> calls;
    for (uint32_t i = 0; i < called->code().size(); ++i)
        if (const auto call = lockCallOf(*module.image_, called->code().at(i)); call && !call->entry.tries)
            calls.push_back(*call);
    std::optional<LockName> found;
    bool dependsOnCallers = false;
    for (const LockCall& call : calls) {
        LockName name = module.nameThroughFrames(call, callSites);
        dependsOnCallers = dependsOnCallers || name.dependsOnCallers;
        if (!name.isNamed())
            return std::nullopt;
        if (!found) {
            found = std::move(name);
            found->inferred = found->inferred || calls.size() > 1;
        } else if (name.text() != found->lockClass
            && std::ranges::find(found->alternatives, name.lockClass) == found->alternatives.end()) {
            found->alternatives.push_back(name.lockClass);
        }
        if (found->alternatives.size() >= kMostLocks)
            return std::nullopt;
    }
    if (found) {
        found->dependsOnCallers = dependsOnCallers;
        found->evidence.method = "the lock calls of a function that the chain lacks";
    }
    return found;
}

LockNamer::Named LockNamer::nameIn(
    FunctionModel& function, uint64_t callSite, const SymbolicValue& value, LockType kind)
{
    DwarfTypes& types = state_->types;
    types.setUnit(&function.unit().types(), &function.unit().scopes());
    const auto index = function.code().find(callSite);
    if (!index)
        return {};
    SliceResult slice = BackwardSlice(function, types, kind).run(*index, value);
    Named named{std::move(slice.best), std::move(slice.others), std::move(slice)};
    if (named.name.score >= kHeldByPointer)
        return named;
    if (NameCandidate other = nameByPrimitive(function, types, kind, *index); other.score >= kHeldByPointer) {
        named.name = std::move(other);
        return named;
    }
    // BTF has no variables of functions: what is the one type that fits there is so for lack of others.
    if (image_->isFromBtf())
        return named;
    NameCandidate guess = TypeGuess(function, types, kind).guess(named.slice.ends, callSite);
    if (guess.score > named.name.score)
        named.name = std::move(guess);
    return named;
}

std::optional<LockName> LockNamer::nameAt(uint64_t callSite)
{
    std::unordered_map<uint64_t, std::optional<LockName>>& answers = state_->answers;
    if (const auto known = answers.find(callSite); known != answers.end())
        return known->second;
    const auto call = callAt(callSite);
    if (answers.size() >= kMostAnswersKept)
        answers.clear();
    return answers[callSite] = call ? std::optional(nameCall(*call)) : std::nullopt;
}

LockName LockNamer::nameCall(const LockCall& call)
{
    return nameThroughFrames(call, {});
}

std::optional<LockName> LockNamer::nameOfChain(std::span<const uint64_t> callSites)
{
    std::vector<ChainSite> sites;
    for (const uint64_t address : callSites)
        sites.push_back({this, address});
    return nameOfChain(sites);
}

std::optional<LockName> LockNamer::nameOfChain(std::span<const ChainSite> callSites)
{
    if (callSites.empty())
        return std::nullopt;
    // Of wrappers that call each other the outermost one is what the program calls.
    std::optional<LockCall> outermost;
    size_t behind = 0;
    for (size_t i = 0; i < callSites.size() && i < static_cast<size_t>(kMostFrames); ++i) {
        LockNamer& module = *callSites[i].module;
        if (const auto call = module.callAt(callSites[i].address)) {
            outermost = call;
            behind = i + 1;
        }
        FunctionModel* function = module.functionAt(callSites[i].address);
        if (function == nullptr || !function->scopes().front().primitive)
            break;
    }
    if (!outermost) {
        auto name = nameInCalled(callSites);
        return name ? name : nameOfOwnLock(callSites);
    }
    LockName name = callSites[behind - 1].module->nameThroughFrames(*outermost, callSites.subspan(behind));
    name.dependsOnCallers = name.dependsOnCallers || behind > 1;
    name.sitesUsed += behind - 1;
    return name;
}

LockName LockNamer::nameThroughFrames(const LockCall& call, std::span<const ChainSite> callers)
{
    state_->budget += kEntriesPerQuestion;
    LockName result;
    result.kind = call.entry.kind;
    result.side = call.entry.side;
    result.tries = call.entry.tries;
    result.btf = image_->isFromBtf();
    result.evidence.routine = call.routine;
    FunctionModel* function = functionAt(call.address);
    if (function == nullptr)
        return result;
    uint64_t callSite = call.address;
    SymbolicValue value = function->terms().ofRegister(x86::kArguments[call.entry.argument]);
    Named named = nameIn(*function, callSite, value, call.entry.kind);
    if (options_.evidence)
        result.evidence.frames.push_back(
            evidenceOf(*function, state_->disassembler, callSite, value, {named.name, named.slice}));
    const auto isFinal = [&] { return named.name.isFull() && !isPassedOn(*function, named.name); };
    result.dependsOnCallers = !isFinal();
    LockNamer* inner = this;
    for (const ChainSite& caller : callers.first(std::min<size_t>(callers.size(), kMostFrames))) {
        if (isFinal())
            break;
        LockNamer& module = *caller.module;
        module.state_->budget += kEntriesPerQuestion;
        FunctionModel* outer = module.functionAt(caller.address);
        const auto passed = outer != nullptr
            ? inner->passedBy(*outer, caller.address, *function, callSite, value)
            : std::nullopt;
        if (!passed)
            break;
        Named above = module.nameIn(*outer, caller.address, *passed, call.entry.kind);
        if (options_.evidence)
            result.evidence.frames.push_back(evidenceOf(
                *outer, module.state_->disassembler, caller.address, *passed, {above.name, above.slice}));
        if (above.name.score >= kHeldByPointer || !named.name.isNamed())
            named = std::move(above);
        ++result.sitesUsed;
        inner = &module;
        function = outer;
        callSite = caller.address;
        value = *passed;
    }
    setName(named, result);
    return result;
}

/// What the caller passes of a value at a call site of the called function; nothing where that does not
/// depend on the caller alone, or the caller's call cannot lead there.
std::optional<SymbolicValue> LockNamer::passedBy(FunctionModel& caller, uint64_t callerSite,
    FunctionModel& called, uint64_t callSite, const SymbolicValue& value)
{
    const auto index = called.code().find(callSite);
    const auto callerIndex = caller.code().find(callerSite);
    if (!index || !callerIndex || !mayCall(caller.image(), caller.code().at(*callerIndex), called))
        return std::nullopt;
    constexpr LockType kAny = LockType::Spin; // nothing is named on the way
    const auto entry = BackwardSlice(called, state_->types, kAny).valueAtEntry(*index, value);
    return entry ? atCall(called.terms(), *entry, caller.terms()) : std::nullopt;
}

void LockNamer::setName(const Named& named, LockName& result)
{
    const NameCandidate& name = named.name;
    result.expression = name.expression;
    result.evidence.lockType = name.lockType;
    result.evidence.method = methodName(name.score);
    if (!name.isNamed())
        return;
    result.lockClass = name.lockClass;
    result.source =
        name.score == kGlobalName || name.score == kUntypedName ? NameSource::Symbol : NameSource::Type;
    result.inferred = isGuess(name.score);
    for (const NameCandidate& other : named.others)
        result.alternatives.push_back(other.lockClass);
}

std::vector<std::string> LockNamer::functionsAt(uint64_t callSite)
{
    std::vector<std::string> names;
    FunctionModel* function = functionAt(callSite);
    if (function == nullptr)
        return names;
    for (const int32_t number : function->scopesAt(callSite)) {
        const FunctionScope& scope = function->scopes()[static_cast<size_t>(number)];
        if (!scope.block)
            names.push_back(function->unit().qualifiedName(scope.die));
    }
    return names;
}

} // namespace whichlock
