// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/backward_slice.h"

#include <algorithm>

namespace whichlock {
namespace {

constexpr int kMostSteps = 6000;
constexpr size_t kMostPending = 256;
constexpr size_t kMostStepsKept = 64; // as evidence
constexpr size_t kMostFound = 64;
constexpr size_t kMostValuesOfEdge = 8;
constexpr size_t kMostOthers = 4;
constexpr size_t kMostEnds = 64;
constexpr int kMostBranches = 64;

/// Members of a path of names, without what stands before the last owner.
std::string_view memberPart(std::string_view name)
{
    const size_t at = name.rfind("::");
    return at == std::string_view::npos ? name : name.substr(at + 2);
}

bool isTailOf(std::string_view tail, std::string_view whole)
{
    return whole.size() > tail.size() && whole.ends_with(tail)
        && whole[whole.size() - tail.size() - 1] == '.';
}

/// The same with every index left out: `a[3].b` as `a[*].b`.
std::string withoutIndexes(std::string_view text)
{
    std::string result;
    bool inside = false;
    for (const char c : text) {
        inside = inside ? c != ']' : c == '[';
        if (!inside && c != ']')
            result += c;
        if (c == '[')
            result += "[]";
    }
    return result;
}

} // namespace

bool nameSameLock(const NameCandidate& a, const NameCandidate& b)
{
    if (a.lockClass == b.lockClass)
        return true;
    const std::string classA = withoutIndexes(a.lockClass);
    const std::string classB = withoutIndexes(b.lockClass);
    if (classA == classB)
        return true;
    const std::string_view memberA = memberPart(classA);
    const std::string_view memberB = memberPart(classB);
    return isTailOf(memberA, memberB) || isTailOf(memberB, memberA);
}

/// A way backwards: the value as it is before the instruction `at`.
struct BackwardSlice::Path {
    uint32_t at = 0;
    SymbolicValue value{};
    int branches = 0;
    std::vector<SliceStep> steps{};
};

/// A full name with what it was told from.
struct BackwardSlice::Found {
    NameCandidate name;
    SymbolicValue value;
    uint64_t address = 0;
    std::vector<SliceStep> steps;
};

BackwardSlice::BackwardSlice(FunctionModel& function, DwarfTypes& types, LockType kind)
    : function_(function)
    , namer_(function, types, kind)
    , stepBack_(function)
{
}

BackwardSlice::~BackwardSlice() = default;

SliceResult BackwardSlice::run(uint32_t instruction, const SymbolicValue& value)
{
    naming_ = true;
    followAll(instruction, value);
    finish();
    return std::move(result_);
}

std::optional<SymbolicValue> BackwardSlice::valueAtEntry(uint32_t instruction, const SymbolicValue& value)
{
    naming_ = false;
    followAll(instruction, value);
    std::optional<SymbolicValue> entry;
    for (const SliceEnd& one : result_.ends) {
        const bool fromCaller = !function_.terms().anyTerm(one.value, [](const Term& term) {
            return term.kind != TermKind::EntryRegister && term.kind != TermKind::Load;
        });
        if (!fromCaller || one.value.isConstant() || (entry && !(*entry == one.value)))
            return std::nullopt;
        entry = one.value;
    }
    return result_.exhausted ? std::nullopt : entry;
}

void BackwardSlice::followAll(uint32_t instruction, const SymbolicValue& value)
{
    result_ = {};
    pending_.clear();
    found_.clear();
    visited_.clear();
    loopStrides_.clear();
    budget_ = kMostSteps;
    Path path{.at = instruction, .value = value};
    if (!tryName(path, value, function_.code().at(instruction).address))
        pending_.push_back(std::move(path));
    while (!pending_.empty() && budget_ > 0) {
        Path next = std::move(pending_.back());
        pending_.pop_back();
        follow(std::move(next));
    }
    result_.exhausted = budget_ <= 0;
}

void BackwardSlice::follow(Path path)
{
    const ControlFlow& code = function_.code();
    std::vector<ControlFlow::Edge> edges;
    while (--budget_ > 0) {
        if (function_.terms().registersOf(path.value) == 0)
            return end(path, false);
        if (code.at(path.at).address == function_.entry())
            return end(path, true);
        code.predecessors(path.at, edges);
        if (edges.empty())
            return end(path, false);
        // The way from above is followed first; the others wait.
        for (size_t i = edges.size(); i-- > 1;)
            if (isFirstVisit(path.at, edges[i].from, path.value))
                branch(path, edges[i].from, path.value);
        const ControlFlow::Edge& edge = edges.front();
        if ((edges.size() > 1 || !edge.applies) && !isFirstVisit(path.at, edge.from, path.value))
            return;
        path.at = edge.from;
        if (edge.applies && !step(path, code.at(edge.from)))
            return;
    }
}

/// Whether an edge is new to a value of these terms. Around a loop only the constant changes: the pointer
/// walks an array.
bool BackwardSlice::isFirstVisit(uint32_t at, uint32_t from, const SymbolicValue& value)
{
    std::vector<SymbolicValue>& seen = visited_[uint64_t{at} << 32 | from];
    for (const SymbolicValue& other : seen)
        if (other.terms == value.terms) {
            const int64_t stride = wrappedSum(value.constant, -other.constant);
            if (stride != 0)
                loopStrides_.insert(stride < 0 ? -stride : stride);
            return false;
        }
    if (seen.size() >= kMostValuesOfEdge)
        return false;
    seen.push_back(value);
    return true;
}

/// Takes one instruction back; false if the path ends there.
bool BackwardSlice::step(Path& path, const Instruction& instruction)
{
    if (instruction.operation == Operation::MoveIf) {
        SymbolicValue moved = stepBack_.moved(instruction, path.value);
        if (!(moved == path.value) && !tryName(path, moved, instruction.address))
            branch(path, path.at, std::move(moved));
        return true;
    }
    SymbolicValue value = stepBack_.before(instruction, path.value);
    const bool changed = !(value == path.value);
    if (changed) {
        path.value = std::move(value);
        if (path.steps.size() < kMostStepsKept)
            path.steps.push_back({instruction.address, path.value});
    }
    return !((changed || locationChanges(path.value, instruction))
        && tryName(path, path.value, instruction.address));
}

void BackwardSlice::branch(const Path& path, uint32_t from, SymbolicValue value)
{
    if (pending_.size() >= kMostPending || path.branches >= kMostBranches)
        return;
    pending_.push_back({from, std::move(value), path.branches + 1, path.steps});
}

SymbolicValue BackwardSlice::inEntryRegisters(const SymbolicValue& value)
{
    constexpr int64_t kReturnAddressBytes = 8;
    TermPool& terms = function_.terms();
    return terms.replaced(value, [&](const Term& term) -> std::optional<SymbolicValue> {
        if (term.kind != TermKind::Register)
            return std::nullopt;
        if (term.number == x86::kRsp)
            return TermPool::plus(terms.frameAddress(), -kReturnAddressBytes);
        return terms.entryRegister(static_cast<RegisterNumber>(term.number));
    });
}

void BackwardSlice::end(const Path& path, bool atEntry)
{
    const uint64_t address = function_.code().at(path.at).address;
    const SymbolicValue value = atEntry ? inEntryRegisters(path.value) : path.value;
    // A null pointer is no lock: that path does not get to the call.
    constexpr int64_t kFirstPage = 4096;
    if (value.isConstant() && value.constant >= -kFirstPage && value.constant < kFirstPage)
        return;
    if (!tryName(path, value, address) && result_.ends.size() < kMostEnds)
        result_.ends.push_back({address, value});
}

/// Remembers the name of a value; true if it is a full one.
bool BackwardSlice::tryName(const Path& path, const SymbolicValue& value, uint64_t address)
{
    if (!naming_)
        return false;
    NameCandidate name = namer_.name(value, address);
    if (name.isFull()) {
        if (found_.size() < kMostFound)
            found_.push_back({std::move(name), value, address, path.steps});
        return true;
    }
    if (name.score > result_.best.score) {
        result_.best = std::move(name);
        result_.named = {address, value};
        result_.steps = path.steps;
    }
    return false;
}

/// Whether a variable begins or ceases to live in one of the registers at an instruction.
bool BackwardSlice::locationChanges(const SymbolicValue& value, const Instruction& instruction) const
{
    const uint32_t registers = function_.terms().registersOf(value);
    for (uint8_t number = 0; number < x86::kRegisters; ++number) {
        if ((registers >> number & 1U) == 0)
            continue;
        for (const uint32_t index : function_.locationsIn(number)) {
            const VariableLocation& location = function_.locations()[index];
            if (location.range.contains(instruction.address) && !location.range.contains(instruction.end()))
                return true;
        }
    }
    return false;
}

/// Chooses among the names of all paths.
void BackwardSlice::finish()
{
    if (!loopStrides_.empty()) {
        const int64_t stride = loopStrides_.size() == 1 ? *loopStrides_.begin() : 1;
        for (Found& one : found_) {
            TermPool& terms = function_.terms();
            NameCandidate any = namer_.name(terms.sum(one.value, terms.unknown(), stride), one.address);
            if (any.isFull())
                one.name = std::move(any);
        }
    }
    for (Found& one : found_) {
        if (!result_.best.isFull()) {
            result_.best = std::move(one.name);
            result_.named = {one.address, one.value};
            result_.steps = std::move(one.steps);
            continue;
        }
        const bool known = nameSameLock(one.name, result_.best)
            || std::ranges::any_of(
                result_.others, [&](const NameCandidate& other) { return nameSameLock(one.name, other); });
        if (!known && result_.others.size() < kMostOthers)
            result_.others.push_back(std::move(one.name));
    }
}

} // namespace whichlock
