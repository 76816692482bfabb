// SPDX-License-Identifier: GPL-3.0-or-later
// Stacks that are laid out by hand, and the stack of this very program against what the C library says of it.
#include "analyzer/session/stack_unwinding.h"
#include "analyzer/symbols/unwinder.h"
#include "tests/fixtures/deep_stack.h"
#include "tests/support/cfi_writer.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#if defined(__x86_64__) && defined(__GLIBC__)
#include <execinfo.h>
#include <ucontext.h>
#endif

namespace whichlock::test {
namespace {

constexpr uint64_t kBase = 0x400000; ///< where the code is mapped, from its offset 0 on
constexpr uint64_t kStack = 0x7ffe0000;
constexpr uint8_t kRbx = 3;
constexpr uint8_t kRbp = 6;
constexpr uint8_t kRsp = 7;
constexpr uint8_t kReturn = 16;
constexpr int kPid = 42;

/// A process with one mapped module whose call frame information is at hand.
class Synthetic {
public:
    explicit Synthetic(const CfiWriter& cfi, std::string_view machine = "x86_64")
        : section_(cfi.section())
        , unwinder_(*unwindArch(machine), [this](const MappedModule&) {
            return std::make_unique<CfiModule>(
                CfiSection(section_, CfiWriter::kSectionAddress, CfiKind::EhFrame, ByteOrder::Little, 8));
        })
    {
        space_.insert({.pid = kPid, .start = kBase, .length = 0x10000, .path = "/bin/program"});
        space_.insert({.pid = kPid, .start = kBase + 0x10000, .length = 0x1000, .path = "//anon"});
    }

    UnwindResult unwind(uint64_t pc, const RegisterFile& registers, const std::string& stack)
    {
        frames_.clear();
        return unwinder_.unwind(space_, kPid, {registers, pc}, {kStack, stack}, frames_);
    }

    /// Offsets in the module as `0x..`, return addresses as they are, `!` for guessed frames, `i` for
    /// addresses that are none of a return.
    std::string path() const
    {
        std::ostringstream text;
        for (const UnwoundFrame& frame : frames_)
            text << (text.str().empty() ? "" : " ") << std::hex << frame.address
                 << (frame.kind == AddressKind::InstructionPointer ? "i" : "") << (frame.guessed ? "!" : "");
        return text.str();
    }
    const std::vector<UnwoundFrame>& frames() const { return frames_; }

private:
    std::string section_;
    AddressSpace space_;
    Unwinder unwinder_;
    std::vector<UnwoundFrame> frames_;
};

RegisterFile registersAt(uint64_t stackPointer, uint64_t framePointer = 0)
{
    RegisterFile registers;
    registers.set(kRsp, stackPointer);
    registers.set(kRbp, framePointer);
    registers.set(kRbx, 0xb);
    return registers;
}

std::string entryProgram()
{
    return Bytes().u8(0x0c).uleb(kRsp).uleb(8).u8(0x80 | kReturn).uleb(1).str();
}

/// 0x1000: a leaf. 0x2000: 16 bytes of frame. 0x3000: keeps rbp and has its CFA by it. 0x4000: has no caller.
/// 0x5000: a signal trampoline, described from one byte before it on.
CfiWriter program()
{
    CfiWriter cfi;
    cfi.common(entryProgram());
    cfi.range(0x1000, 0x100, "");
    cfi.range(0x2000, 0x100, Bytes().u8(0x0e).uleb(24).str());
    cfi.range(0x3000, 0x100, Bytes().u8(0x0c).uleb(kRbp).uleb(16).u8(0x80 | kRbp).uleb(2).str());
    cfi.range(0x4000, 0x100, Bytes().u8(0x07).uleb(kReturn).str());
    // CFA = the word at rsp + 0x20; the return address is the word at rsp + 0x28; rsp is the CFA.
    const std::string place = Bytes().u8(0x77).sleb(0x28).str();
    cfi.common(Bytes()
                   .u8(0x0f)
                   .block(Bytes().u8(0x77).sleb(0x20).u8(0x06).str())
                   .u8(0x10)
                   .uleb(kReturn)
                   .block(place)
                   .str(),
        true);
    cfi.range(0x4fff, 0x11, "");
    return cfi;
}

TEST(Unwinder, followsFramesToTheOutermost)
{
    Synthetic process(program());
    const std::string stack = Bytes()
                                  .u64(kBase + 0x2010) // the leaf's caller
                                  .u64(1)
                                  .u64(2)
                                  .u64(kBase + 0x3010) // 16 bytes of it, then its caller
                                  .u64(3)              // a local of that one
                                  .u64(0)
                                  .u64(kBase + 0x4010) // its rbp, then its caller
                                  .str();
    const UnwindResult result = process.unwind(kBase + 0x1004, registersAt(kStack, kStack + 0x28), stack);
    EXPECT_EQ(process.path(), "401004i 402010 403010 404010");
    EXPECT_EQ(result.end, UnwindEnd::Outermost);
    EXPECT_FALSE(result.guessed);
    EXPECT_EQ(process.frames()[3].offset, 0x4010U);
    EXPECT_EQ(process.frames()[3].module.v, 1U);
}

TEST(Unwinder, endsAtTheReturnAddressZero)
{
    Synthetic process(program());
    EXPECT_EQ(
        process.unwind(kBase + 0x1004, registersAt(kStack), Bytes().u64(0).str()).end, UnwindEnd::Outermost);
    EXPECT_EQ(process.path(), "401004i");
}

TEST(Unwinder, saysWhereTheCopyOfTheStackEnds)
{
    Synthetic process(program());
    const std::string stack = Bytes().u64(kBase + 0x2010).u64(1).u64(2).u32(1).str();
    EXPECT_EQ(process.unwind(kBase + 0x1004, registersAt(kStack), stack).end, UnwindEnd::StackCut);
    EXPECT_EQ(process.path(), "401004i 402010");
    EXPECT_EQ(process.unwind(kBase + 0x1004, registersAt(kStack), "").end, UnwindEnd::StackCut);
}

TEST(Unwinder, looksUpWhatASignalInterruptedAtItsOwnAddress)
{
    Synthetic process(program());
    // The handler returns into the trampoline, whose first byte is no return address. What it interrupted is
    // the first instruction of a function: the byte before belongs to another one.
    const std::string stack = Bytes()
                                  .u64(kBase + 0x5000) // the handler is a leaf
                                  .u64(0)
                                  .u64(0)
                                  .u64(0)
                                  .u64(0)
                                  .u64(kStack + 0x60)
                                  .u64(kBase + 0x2000) // rsp and rip in the context
                                  .u64(0)
                                  .u64(0)
                                  .u64(0)
                                  .u64(0)
                                  .u64(0)
                                  .u64(1)
                                  .u64(2)
                                  .u64(kBase + 0x4010) // the frame at the interrupted rsp
                                  .str();
    EXPECT_EQ(process.unwind(kBase + 0x1004, registersAt(kStack), stack).end, UnwindEnd::Outermost);
    EXPECT_EQ(process.path(), "401004i 405000i 402000i 404010");
}

TEST(Unwinder, keepsRegistersThatWerePoppedAlready)
{
    CfiWriter cfi;
    cfi.common(entryProgram());
    // On its way out: rbp was saved at the CFA - 16, which is below the stack pointer by now.
    cfi.range(0x1000, 0x100, Bytes().u8(0x80 | kRbp).uleb(2).str());
    cfi.range(0x3000, 0x100, Bytes().u8(0x0c).uleb(kRbp).uleb(16).u8(0x80 | kRbp).uleb(2).str());
    cfi.range(0x4000, 0x100, Bytes().u8(0x07).uleb(kReturn).str());
    Synthetic process(cfi);
    const std::string stack = Bytes().u64(kBase + 0x3010).u64(1).u64(0).u64(kBase + 0x4010).str();
    EXPECT_EQ(
        process.unwind(kBase + 0x10f0, registersAt(kStack, kStack + 16), stack).end, UnwindEnd::Outermost);
    EXPECT_EQ(process.path(), "4010f0i 403010 404010");
}

TEST(Unwinder, guessesByTheFramePointerWhereNothingIsDescribed)
{
    Synthetic process(program());
    const std::string stack = Bytes()
                                  .u64(7)
                                  .u64(kStack + 0x28)
                                  .u64(kBase + 0x2010) // rbp points here
                                  .u64(1)
                                  .u64(2)
                                  .u64(kBase + 0x4010)
                                  .str();
    EXPECT_EQ(
        process.unwind(kBase + 0x8000, registersAt(kStack, kStack + 8), stack).end, UnwindEnd::Outermost);
    EXPECT_EQ(process.path(), "408000i 402010! 404010");
    const UnwindResult jit = process.unwind(kBase + 0x10010, registersAt(kStack, kStack + 8), stack);
    EXPECT_EQ(process.path(), "410010i 402010! 404010") << "code without a file";
    EXPECT_TRUE(jit.guessed);
}

TEST(Unwinder, doesNotGuessWhereTheFramePointerIsNone)
{
    Synthetic process(program());
    const std::string stack = Bytes().u64(7).u64(0).u64(0x1234567).u64(kBase + 0x2010).str();
    for (const uint64_t framePointer :
        {uint64_t{0}, kStack - 8, kStack + 8, kStack + 4, kStack + 0x20, ~uint64_t{0}}) {
        const UnwindResult result = process.unwind(kBase + 0x8000, registersAt(kStack, framePointer), stack);
        EXPECT_EQ(result.end, UnwindEnd::NoRules);
        EXPECT_EQ(result.module.v, 1U);
        EXPECT_EQ(process.path(), "408000i");
    }
}

TEST(Unwinder, endsWhereNothingIsMapped)
{
    Synthetic process(program());
    EXPECT_EQ(process.unwind(kBase + 0x1004, registersAt(kStack), Bytes().u64(0x1234).str()).end,
        UnwindEnd::NoMapping);
    EXPECT_EQ(process.path(), "401004i 1234");
    EXPECT_FALSE(process.frames()[1].module);
    EXPECT_EQ(process.frames()[1].offset, 0x1234U);
}

TEST(Unwinder, refusesAStackThatDoesNotGrow)
{
    CfiWriter cfi;
    cfi.common(entryProgram());
    cfi.range(0x1000, 0x100, Bytes().u8(0x0c).uleb(kRbp).uleb(16).u8(0x80 | kRbp).uleb(2).str());
    Synthetic process(cfi);
    const std::string stack = Bytes().u64(kStack).u64(kBase + 0x1010).u64(kStack).u64(kBase + 0x1010).str();
    EXPECT_EQ(process.unwind(kBase + 0x1004, registersAt(kStack, kStack + 16), stack).end, UnwindEnd::Broken);
    EXPECT_LE(process.frames().size(), 3U);
}

TEST(Unwinder, endsAtTheLimitOfFrames)
{
    Synthetic process(program());
    Bytes stack;
    for (int i = 0; i < 1000; ++i)
        stack.u64(kBase + 0x1010);
    EXPECT_EQ(process.unwind(kBase + 0x1004, registersAt(kStack), stack.str()).end, UnwindEnd::FrameLimit);
    EXPECT_EQ(process.frames().size(), Unwinder::kMostFrames);
}

TEST(Unwinder, takesTheLinkRegisterOfArmAndDropsTheAuthenticationCode)
{
    CfiWriter cfi;
    cfi.common(Bytes().u8(0x0c).uleb(31).uleb(0).str(), false, 30, 4);
    cfi.range(0x1000, 0x100, ""); // a leaf: nothing was saved
    // CFA = sp + 32; x29 at the CFA - 32, x30 signed at the CFA - 24.
    cfi.range(
        0x2000, 0x100, Bytes().u8(0x2d).u8(0x0e).uleb(32).u8(0x80 | 29).uleb(4).u8(0x80 | 30).uleb(3).str());
    cfi.range(0x3000, 0x100, Bytes().u8(0x07).uleb(30).str());
    Synthetic process(cfi, "aarch64");
    RegisterFile registers;
    registers.set(31, kStack);
    registers.set(30, kBase + 0x2010);
    const std::string stack = Bytes().u64(0).u64(0x00ab000000000000 | (kBase + 0x3010)).u64(1).u64(2).str();
    EXPECT_EQ(process.unwind(kBase + 0x1004, registers, stack).end, UnwindEnd::Outermost);
    EXPECT_EQ(process.path(), "401004i 402010 403010");
}

TEST(UnwindStart, takesTheRegistersByTheMask)
{
    // bp, sp, ip and r15 of x86, in the order of their bits.
    const std::string words = Bytes().u64(6).u64(7).u64(0x1234).u64(15).str();
    const PerfRegisters recorded{.abi = 2,
        .mask = 1U << 6U | 1U << 7U | 1U << 8U | 1U << 23U,
        .values = U64Span(words, ByteOrder::Little)};
    const auto start = unwindStart(*unwindArch("x86_64"), recorded);
    ASSERT_TRUE(start);
    EXPECT_EQ(start->pc, 0x1234U);
    EXPECT_EQ(start->registers.values[kRbp], 6U);
    EXPECT_EQ(start->registers.values[kRsp], 7U);
    EXPECT_EQ(start->registers.values[15], 15U);
    EXPECT_FALSE(start->registers.has(kRbx));
    PerfRegisters other = recorded;
    other.abi = 1;
    EXPECT_FALSE(unwindStart(*unwindArch("x86_64"), other)) << "a task of 32 bits";
    other = recorded;
    other.mask = 1U << 6U | 1U << 7U;
    EXPECT_FALSE(unwindStart(*unwindArch("x86_64"), other)) << "no pc";
    EXPECT_EQ(unwindArch("riscv64"), nullptr);
}

#if defined(__x86_64__) && defined(__GLIBC__)

/// What a sample of this program at one moment would hold.
struct OwnSample {
    RegisterFile registers{};
    uint64_t pc = 0;
    std::string stack{};
    std::vector<uint64_t>
        expected{}; ///< from backtrace(3); the first one lies in the same function as the pc
};
OwnSample taken;

uint64_t endOfStack(uint64_t address)
{
    std::ifstream maps("/proc/self/maps");
    uint64_t start = 0;
    uint64_t end = 0;
    for (std::string line; std::getline(maps, line);)
        if (std::sscanf(line.c_str(), "%lx-%lx", &start, &end) == 2 && address >= start && address < end)
            return end;
    return 0;
}

/// A sanitizer minds that this reads what lies between the variables.
[[gnu::noinline]] __attribute__((no_sanitize("address"))) void copyStack(uint64_t from, uint64_t to)
{
    taken.stack.resize(to - from);
    char* out = taken.stack.data();
    for (uint64_t at = from; at < to; ++at)
        out[at - from] = *reinterpret_cast<const volatile char*>(at);
}

/// Called by takeSample() alone.
[[gnu::noinline]] void keepSample(const ucontext_t& context)
{
    // DWARF numbers of the registers that a context has.
    constexpr std::pair<size_t, int> kColumns[] = {{0, REG_RAX}, {1, REG_RDX}, {2, REG_RCX}, {3, REG_RBX},
        {4, REG_RSI}, {5, REG_RDI}, {6, REG_RBP}, {7, REG_RSP}, {8, REG_R8}, {9, REG_R9}, {10, REG_R10},
        {11, REG_R11}, {12, REG_R12}, {13, REG_R13}, {14, REG_R14}, {15, REG_R15}};
    taken = {};
    for (const auto& [column, index] : kColumns)
        taken.registers.set(column, static_cast<uint64_t>(context.uc_mcontext.gregs[index]));
    taken.pc = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
    const uint64_t from = taken.registers.values[kRsp];
    copyStack(from, endOfStack(from));
    void* addresses[200];
    const int count = backtrace(addresses, 200);
    // The first frames are this function, and what a sanitizer puts before backtrace().
    int first = 0;
    while (first < count && addresses[first] != __builtin_return_address(0))
        ++first;
    for (int i = first; i < count; ++i)
        taken.expected.push_back(reinterpret_cast<uint64_t>(addresses[i]));
}

/// Holds nothing that a second return of getcontext() could damage.
[[gnu::noinline]] void takeSample()
{
    ucontext_t context;
    getcontext(&context);
    keepSample(context);
}

std::unique_ptr<AddressSpace> ownSpace()
{
    auto space = std::make_unique<AddressSpace>();
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        unsigned long start = 0;
        unsigned long end = 0;
        unsigned long offset = 0;
        char permissions[5] = "";
        int path = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx %*s %*s %n", &start, &end, permissions, &offset, &path)
            >= 4)
            space->insert({.pid = kPid,
                .start = start,
                .length = end - start,
                .fileOffset = offset,
                .path = std::string_view(line).substr(static_cast<size_t>(path)),
                .executable = permissions[2] == 'x'});
    }
    return space;
}

/// The addresses of the sample that was taken, as far as the C library has them.
void expectOwnStack(bool fromSignal)
{
    const std::unique_ptr<AddressSpace> owner = ownSpace();
    const AddressSpace& space = *owner;
    Unwinder unwinder(*unwindArch("x86_64"), [](const MappedModule& module) {
        return std::make_unique<CfiModule>(ModuleFiles{.code = module.path});
    });
    std::vector<UnwoundFrame> frames;
    const UnwindResult result = unwinder.unwind(
        space, kPid, {taken.registers, taken.pc}, {taken.registers.values[kRsp], taken.stack}, frames);
    EXPECT_EQ(result.end, UnwindEnd::Outermost);
    EXPECT_FALSE(result.guessed);
    ASSERT_EQ(frames.size(), taken.expected.size());
    size_t exact = 0;
    for (size_t i = 1; i < frames.size(); ++i) {
        EXPECT_EQ(frames[i].address, taken.expected[i]) << "frame " << i;
        exact += frames[i].kind == AddressKind::InstructionPointer;
    }
    EXPECT_GT(frames.size(), 10U);
    EXPECT_EQ(exact, fromSignal ? 2U : 0U) << "the trampoline, and what was interrupted";
}

TEST(UnwinderOfThisProgram, findsWhatTheCLibraryFinds)
{
    callDeep(23, takeSample);
    expectOwnStack(false);
}

TEST(UnwinderOfThisProgram, passesASignalHandler)
{
    callFromSignal(takeSample);
    expectOwnStack(true);
}

TEST(UnwinderOfThisProgram, survivesAnyRegistersAndStack)
{
    callDeep(23, takeSample);
    const std::unique_ptr<AddressSpace> owner = ownSpace();
    const AddressSpace& space = *owner;
    Unwinder unwinder(*unwindArch("x86_64"), [](const MappedModule& module) {
        return std::make_unique<CfiModule>(ModuleFiles{.code = module.path});
    });
    std::mt19937_64 random(3);
    std::vector<UnwoundFrame> frames;
    for (int round = 0; round < 2000; ++round) {
        OwnSample damaged{.registers = taken.registers, .pc = taken.pc, .stack = taken.stack.substr(0, 4096)};
        for (int i = 0; i < 3; ++i) {
            const size_t word = random() % (damaged.stack.size() / 8);
            const uint64_t value = taken.expected[random() % taken.expected.size()] + random() % 64;
            std::memcpy(damaged.stack.data() + word * 8, &value, 8);
        }
        if (round % 4 == 0)
            damaged.registers.set(random() % 16, random() % 2 ? random() : damaged.registers.values[kRsp]);
        frames.clear();
        unwinder.unwind(space, kPid, {damaged.registers, damaged.pc},
            {damaged.registers.values[kRsp], damaged.stack}, frames);
        EXPECT_GE(frames.size(), 1U);
        EXPECT_LE(frames.size(), Unwinder::kMostFrames);
    }
}

/// The registers of the sample that was taken as perf records them; without a frame pointer nothing is
/// guessed.
std::string recordedRegisters()
{
    // ax bx cx dx si di bp sp ip flags cs ss, r8-r15
    constexpr size_t kColumns[] = {0, 3, 2, 1, 4, 5, 99, 7, 16, 99, 99, 99, 8, 9, 10, 11, 12, 13, 14, 15};
    Bytes words;
    for (const size_t column : kColumns)
        words.u64(column == 16 ? taken.pc : column == 99 ? 0 : taken.registers.values[column]);
    return words.str();
}

std::string messagesOf(StackUnwinding& unwinding, const AddressSpace& space)
{
    std::string text;
    for (const Diagnostic& one : unwinding.takeDiagnostics(space, "input"))
        text += one.message + "\n";
    return text;
}

PerfSample sampleOf(const std::string& registers, size_t stackBytes)
{
    PerfSample sample;
    sample.pid = kPid;
    sample.userRegisters = {.abi = 2, .mask = 0xff0fff, .values = U64Span(registers, ByteOrder::Little)};
    sample.userStack = std::string_view(taken.stack).substr(0, stackBytes);
    sample.userStackUsed = sample.userStack.size();
    return sample;
}

TEST(StackUnwinding, findsCallersAndCountsStacksThatWereCut)
{
    callFromSignal(takeSample); // its frames do not fit into the piece
    const std::unique_ptr<AddressSpace> owner = ownSpace();
    const AddressSpace& space = *owner;
    Symbolizer symbolizer({.symfs = "/"}); // every file by its recorded path
    StackUnwinding unwinding(symbolizer);
    // The frame pointer is wanted here: code without optimization finds its frames by it.
    std::string registers = recordedRegisters();
    std::memcpy(registers.data() + 6 * 8, &taken.registers.values[kRbp], 8);
    const size_t pieceBytes = 1024;
    PerfSample sample = sampleOf(registers, pieceBytes);
    std::vector<UserAddress> found;
    ASSERT_TRUE(unwinding.unwind(sample, space, found));
    ASSERT_GE(found.size(), 1U);
    EXPECT_EQ(found[0].kind, AddressKind::InstructionPointer);
    for (size_t i = 1; i < found.size(); ++i)
        EXPECT_EQ(found[i].address, taken.expected[i]);
    EXPECT_LT(found.size(), taken.expected.size());
    EXPECT_EQ(messagesOf(unwinding, space),
        "1 of 1 stacks were cut by the size of the stack copy (1024 bytes): their outer callers are "
        "missing\n");

    sample.userStackUsed = pieceBytes - 8; // the kernel could not copy more: no larger piece would help
    ASSERT_TRUE(unwinding.unwind(sample, space, found));
    EXPECT_NE(messagesOf(unwinding, space).find("1 of 2 stacks were cut"), std::string::npos);
}

TEST(StackUnwinding, saysWhichFileIsMissing)
{
    callDeep(3, takeSample);
    const std::unique_ptr<AddressSpace> owner = ownSpace();
    const AddressSpace& space = *owner;
    Symbolizer symbolizer({});
    StackUnwinding unwinding(symbolizer);
    const std::string registers = recordedRegisters();
    std::vector<UserAddress> found;
    ASSERT_TRUE(unwinding.unwind(sampleOf(registers, 4096), space, found));
    EXPECT_EQ(found.size(), 1U);
    const std::string path = space.module(space.find(AddressMode::User, kPid, taken.pc)->module).path;
    EXPECT_EQ(messagesOf(unwinding, space),
        "1 of 1 stacks end in code whose frames nothing at hand describes: " + path + " (1)\n");
}

TEST(StackUnwinding, leavesOtherMachinesAndMissingStacksAlone)
{
    callDeep(3, takeSample);
    const std::unique_ptr<AddressSpace> owner = ownSpace();
    const AddressSpace& space = *owner;
    Symbolizer symbolizer({});
    const std::string registers = recordedRegisters();
    std::vector<UserAddress> found;
    PerfSample narrow = sampleOf(registers, 4096);
    narrow.userRegisters.abi = 1;
    StackUnwinding unwinding(symbolizer);
    EXPECT_FALSE(unwinding.unwind(narrow, space, found));
    EXPECT_FALSE(unwinding.unwind(sampleOf(registers, 0), space, found));
    StackUnwinding foreign(symbolizer);
    foreign.setMachine("riscv64");
    EXPECT_FALSE(foreign.unwind(sampleOf(registers, 4096), space, found));
    EXPECT_TRUE(found.empty());
    for (StackUnwinding* one : {&unwinding, &foreign})
        EXPECT_EQ(messagesOf(*one, space),
            "1 stacks are of tasks of 32 bits or of another processor, which are not unwound: of those the "
            "innermost frame counts\n");
}

#endif

} // namespace
} // namespace whichlock::test
