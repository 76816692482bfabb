// SPDX-License-Identifier: GPL-3.0-or-later
// Addresses of locks in recordings: variables of the kernel under KASLR, of each processor, of kallsyms.
#include "analyzer/session/lock_variables.h"
#include "tests/support/lock_fixtures.h"

#include <gtest/gtest.h>

namespace whichlock {
namespace {

constexpr uint64_t kLinkedText = 0xffffffff81000000;
constexpr uint64_t kSlide = 0x1c00'0000;

/// A recording of the kernel of the fixtures, which ran elsewhere than it was linked.
class KernelVariables : public testing::Test {
protected:
    void open(SymbolizerOptions options, bool withId = true)
    {
        const auto file = ElfFile::open(test::lockFixture("kernel", "vmlinux"));
        ASSERT_TRUE(file);
        space_.insert({.mode = AddressMode::Kernel,
            .start = kLinkedText + kSlide,
            .length = 0x1000'0000,
            .fileOffset = kLinkedText + kSlide,
            .path = "[kernel.kallsyms]_text",
            .buildId = withId ? (*file)->buildId() : BuildId()});
        options.debugRoot = "/nonexistent";
        symbolizer_ = std::make_unique<Symbolizer>(options);
        modules_ = std::make_unique<LockModules>(space_, *symbolizer_);
        variables_ = std::make_unique<LockVariables>(space_, *symbolizer_, *modules_);
        auto image = ModuleImage::open(ModuleFiles{.code = test::lockFixture("kernel", "vmlinux")});
        ASSERT_TRUE(image) << image.error().message;
        image_ = std::move(*image);
    }

    uint64_t linked(std::string_view name) const
    {
        for (const ImageSymbol& symbol : image_->objects())
            if (symbol.name == name)
                return symbol.address;
        ADD_FAILURE() << name;
        return 0;
    }

    AddressSpace space_;
    std::unique_ptr<Symbolizer> symbolizer_;
    std::unique_ptr<LockModules> modules_;
    std::unique_ptr<LockVariables> variables_;
    std::unique_ptr<ModuleImage> image_;
};

TEST_F(KernelVariables, areFoundWhereTheKernelWasMoved)
{
    open({.vmlinux = test::lockFixture("kernel", "vmlinux")});
    const TracedVariable lock = variables_->kernelVariable(linked("sb_lock") + kSlide);
    EXPECT_EQ(lock.name, "sb_lock");
    EXPECT_EQ(lock.offset, 0U);
    EXPECT_TRUE(lock.verified);
    // Each bucket is a pointer and a lock of four bytes, 16 bytes with the padding.
    EXPECT_EQ(variables_->kernelVariable(linked("dentry_hashtable") + 5 * 16 + 8 + kSlide).name,
        "dentry_hashtable[5].lock");
    EXPECT_EQ(variables_->kernelVariable(linked("sb_lock") + kSlide + 0x10'0000).name, "");
    EXPECT_EQ(variables_->kernelVariable(linked("sb_lock")).name, "") << "that is where it was linked";
}

TEST_F(KernelVariables, ofEachProcessorAreSolvedFromOneCallThatNamesOne)
{
    open({.vmlinux = test::lockFixture("kernel", "vmlinux")});
    constexpr uint64_t kFirstArea = 0xffff'8886'27c0'0000;
    constexpr uint64_t kSecondArea = 0xffff'8886'27d0'0000;
    const uint64_t first = kFirstArea + linked("runqueues");
    EXPECT_EQ(variables_->kernelVariable(first).name, "") << "memory of anything";
    // A call that takes a lock of no processor teaches nothing.
    variables_->learnPerCpu(first, "sb_lock", true);
    EXPECT_EQ(variables_->kernelVariable(first).name, "");
    variables_->learnPerCpu(first, "runqueues.lock", true);
    EXPECT_EQ(variables_->kernelVariable(first).name, "runqueues.lock");
    EXPECT_EQ(variables_->kernelVariable(kSecondArea + linked("runqueues")).name, "") << "another processor";
    EXPECT_EQ(variables_->kernelVariable(first + 4).name, "") << "no lock begins there";
}

TEST_F(KernelVariables, ofEachProcessorAreSolvedFromSeveralObjectsOfTheirType)
{
    open({.vmlinux = test::lockFixture("kernel", "vmlinux")});
    constexpr uint64_t kFirstArea = 0xffff'8886'27c0'0000;
    constexpr uint64_t kSecondArea = 0xffff'8886'27d0'0000;
    const uint64_t first = kFirstArea + linked("runqueues");
    const uint64_t second = kSecondArea + linked("runqueues");
    variables_->learnPerCpu(first, "struct rq::lock", false);
    variables_->learnPerCpu(second + 8, "struct rq::lock", false); // lies where no area allows it
    EXPECT_EQ(variables_->kernelVariable(first).name, "") << "one may be chance";
    variables_->learnPerCpu(first, "struct rq::lock", false);
    variables_->learnPerCpu(second, "struct rq::lock", false);
    EXPECT_EQ(variables_->kernelVariable(first).name, "runqueues.lock");
    EXPECT_EQ(variables_->kernelVariable(second).name, "runqueues.lock");
}

TEST_F(KernelVariables, areRefusedToAKernelOfAnotherBuild)
{
    const std::string other = test::scratchPath("vmlinux-other");
    std::string bytes = test::readBytes(test::lockFixture("kernel", "vmlinux"));
    open({.vmlinux = other});
    const BuildId buildId = image_->buildId();
    const std::string id(buildId.bytes().begin(), buildId.bytes().end());
    const size_t at = bytes.find(id);
    ASSERT_NE(at, std::string::npos);
    bytes[at] = static_cast<char>(~bytes[at]);
    test::writeBytes(other, bytes);
    EXPECT_EQ(variables_->kernelVariable(linked("sb_lock") + kSlide).name, "");
    bool said = false;
    for (const Diagnostic& one : symbolizer_->takeDiagnostics())
        said = said || one.code == DiagnosticCode::BuildIdMismatch;
    EXPECT_TRUE(said);
}

TEST_F(KernelVariables, areUnverifiedWithoutARecordedBuildId)
{
    open({.vmlinux = test::lockFixture("kernel", "vmlinux")}, false);
    const TracedVariable lock = variables_->kernelVariable(linked("sb_lock") + kSlide);
    EXPECT_EQ(lock.name, "sb_lock");
    EXPECT_FALSE(lock.verified);
}

TEST_F(KernelVariables, comeFromKallsymsUpToTheNextSymbol)
{
    const std::string text = test::scratchPath("kallsyms");
    test::writeBytes(text,
        "ffffffff81000000 T _text\nffffffff81000000 T _stext\nffffffff82000000 D tasklist_lock\n"
        "ffffffff82000008 D sb_lock\nffffffff82000040 D __start_other\nffffffff82000050 d last_one\n");
    open({.kallsyms = text});
    const TracedVariable lock = variables_->kernelVariable(0xffffffff82000008 + kSlide);
    EXPECT_EQ(lock.name, "sb_lock");
    EXPECT_FALSE(lock.verified) << "nothing proves which kernel the text is of";
    EXPECT_EQ(variables_->kernelVariable(0xffffffff82000004 + kSlide).name, "tasklist_lock");
    EXPECT_EQ(variables_->kernelVariable(0xffffffff82000004 + kSlide).offset, 4U);
    EXPECT_EQ(variables_->kernelVariable(0xffffffff82000044 + kSlide).name, "") << "a mark of a section";
    EXPECT_EQ(variables_->kernelVariable(0xffffffff82001050 + kSlide).name, "") << "a page behind the last";
}

TEST_F(KernelVariables, areNotGuessedFromFewSymbolsOfData)
{
    std::string rows = "ffffffff82000000 D sb_lock\nffffffff82f00000 D init_task\n";
    for (int i = 0; i < 100; ++i)
        rows += "ffffffff8100" + std::to_string(1000 + i) + " T function" + std::to_string(i) + "\n";
    const std::string text = test::scratchPath("kallsyms-of-code");
    test::writeBytes(text, "ffffffff81000000 T _text\n" + rows);
    open({.kallsyms = text});
    EXPECT_EQ(variables_->kernelVariable(0xffffffff82000008 + kSlide).name, "");
}

} // namespace
} // namespace whichlock
