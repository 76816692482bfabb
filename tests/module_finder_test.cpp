// SPDX-License-Identifier: GPL-3.0-or-later
// Which files are used for a module, and which are refused.
#include "analyzer/symbols/module_finder.h"
#include "tests/support/symbol_fixtures.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <sys/stat.h>

namespace whichlock {
namespace {

using test::copyFile;
using test::fixture;
using test::fixtureFolder;

BuildId wholeId()
{
    return *BuildId::fromHex(std::string(40, '1'));
}

/// Nothing of this machine unless a test says so.
SymbolizerOptions nowhere()
{
    return {.debugRoot = "/nonexistent"};
}

std::string codes(ModuleFinder& finder)
{
    std::string text;
    for (const Diagnostic& diagnostic : finder.takeDiagnostics())
        text += std::string(codeName(diagnostic.code)) + ";";
    return text;
}

TEST(MappedModule, knowsLibrariesOfTheCRuntimeByTheirNames)
{
    for (const char* path :
        {"/usr/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc-2.31.so", "/lib/libm.so.6",
            "/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1", "/lib64/libpthread-2.17.so (deleted)"})
        EXPECT_TRUE(isRuntimeLibrary(path)) << path;
    for (const char* path : {"/usr/bin/libc", "/usr/lib/libcurl.so.4", "/usr/lib/libm3d.so", "/usr/bin/ld",
             "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30", "[vdso]", ""})
        EXPECT_FALSE(isRuntimeLibrary(path)) << path;
}

TEST(ModuleFinder, takesAFileOfAnyNameByItsBuildId)
{
    const std::string folder = test::scratchFolder("finder-any");
    copyFile(fixture("whole"), folder + "/deep/down/renamed.bin");
    copyFile(fixture("other-id"), folder + "/program");
    SymbolizerOptions options = nowhere();
    options.debugDirs = {folder};
    ModuleFinder finder(options);
    const ModuleFiles files = finder.find({.path = "/srv/app/program", .buildId = wholeId()});
    EXPECT_EQ(files.code, folder + "/deep/down/renamed.bin");
    EXPECT_EQ(files.debug, files.code);
    EXPECT_TRUE(files.verified);
    EXPECT_EQ(codes(finder), "");
}

TEST(ModuleFinder, refusesAnotherBuildIdAndSaysSo)
{
    SymbolizerOptions options = nowhere();
    options.debugDirs = {fixtureFolder("other-id"), fixtureFolder("no-id")};
    ModuleFinder finder(options);
    EXPECT_FALSE(finder.find({.path = "/srv/app/program", .buildId = wholeId()}).found());
    const auto diagnostics = finder.takeDiagnostics();
    ASSERT_EQ(diagnostics.size(), 1U);
    EXPECT_EQ(diagnostics[0].code, DiagnosticCode::BuildIdMismatch);
    EXPECT_NE(diagnostics[0].message.find(std::string(40, '2')), std::string::npos) << diagnostics[0].message;
    EXPECT_NE(diagnostics[0].message.find(std::string(40, '1')), std::string::npos) << diagnostics[0].message;
}

TEST(ModuleFinder, takesNamedFoldersWithoutARecordedIdAndMarksTheNames)
{
    SymbolizerOptions options = nowhere();
    options.debugDirs = {fixtureFolder("whole")};
    ModuleFinder finder(options);
    const ModuleFiles files = finder.find({.path = "/srv/app/program (deleted)"});
    EXPECT_EQ(files.code, fixture("whole"));
    EXPECT_FALSE(files.verified);
    EXPECT_EQ(codes(finder), "symbols-unverified;");
}

TEST(ModuleFinder, neverTakesAPathOfTheRecordingFromThisMachineByItsName)
{
    ModuleFinder finder(nowhere());
    EXPECT_FALSE(finder.find({.path = fixture("whole")}).found());
    EXPECT_FALSE(finder.find({.path = fixture("other-id"), .buildId = wholeId()}).found());
    EXPECT_EQ(finder.find({.path = fixture("whole"), .buildId = wholeId()}).code, fixture("whole"))
        << "the build id proves it";
}

TEST(ModuleFinder, putsSymfsBeforeRecordedPathsAndNeverLeavesIt)
{
    const std::string root = test::scratchFolder("finder-symfs");
    copyFile(fixture("whole"), root + "/srv/app/program");
    copyFile(fixture("whole"), root + "/outside");
    SymbolizerOptions options = nowhere();
    options.symfs = root;
    ModuleFinder finder(options);
    EXPECT_EQ(finder.find({.path = "/srv/app/program"}).code, root + "/srv/app/program");
    options.symfs = root + "/srv";
    ModuleFinder inner(options);
    EXPECT_FALSE(inner.find({.path = "/app/../../outside"}).found());
    EXPECT_FALSE(inner.find({.path = "relative"}).found());
}

TEST(ModuleFinder, followsNoLinkOutOfSymfsWithoutABuildId)
{
    const std::string root = test::scratchFolder("finder-symfs-link");
    copyFile(fixture("whole"), root + "/host/program");
    std::filesystem::create_directories(root + "/fs/bin");
    std::filesystem::create_symlink(root + "/host/program", root + "/fs/bin/absolute");
    std::filesystem::create_symlink("target", root + "/fs/bin/relative");
    copyFile(fixture("whole"), root + "/fs/bin/target");
    SymbolizerOptions options = nowhere();
    options.symfs = root + "/fs";
    EXPECT_FALSE(ModuleFinder(options).find({.path = "/bin/absolute"}).found());
    EXPECT_TRUE(ModuleFinder(options).find({.path = "/bin/absolute", .buildId = wholeId()}).found());
    EXPECT_TRUE(ModuleFinder(options).find({.path = "/bin/relative"}).found());
}

TEST(ModuleFinder, takesTheLongestCommonPathAndNoneOfEquals)
{
    const std::string folder = test::scratchFolder("finder-several");
    copyFile(fixture("whole"), folder + "/one/app/program");
    copyFile(fixture("other-id"), folder + "/two/lib/program");
    SymbolizerOptions options = nowhere();
    options.debugDirs = {folder};
    ModuleFinder finder(options);
    EXPECT_EQ(finder.find({.path = "/srv/lib/program"}).code, folder + "/two/lib/program");
    finder.takeDiagnostics();
    EXPECT_FALSE(finder.find({.path = "/srv/bin/program"}).found());
    EXPECT_EQ(codes(finder), "symbols-ambiguous;");
}

TEST(ModuleFinder, followsDebugLinksByCrc)
{
    const std::string folder = test::scratchFolder("finder-link");
    copyFile(fixture("no-id-stripped"), folder + "/program");
    copyFile(fixtureFolder("no-id-stripped") + "/debug-of-program", folder + "/.debug/debug-of-program");
    SymbolizerOptions options = nowhere();
    options.debugDirs = {folder};
    EXPECT_EQ(ModuleFinder(options).find({.path = "/x/program"}).debug, folder + "/.debug/debug-of-program");

    std::string bytes = test::readWhole(folder + "/.debug/debug-of-program");
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    test::writeWhole(folder + "/.debug/debug-of-program", bytes);
    const ModuleFiles files = ModuleFinder(options).find({.path = "/x/program"});
    EXPECT_EQ(files.code, folder + "/program");
    EXPECT_EQ(files.debug, "") << "another build";
}

TEST(ModuleFinder, findsDebugInfoInBuildIdFolders)
{
    const std::string root = test::scratchFolder("finder-build-id");
    const std::string debug = root + "/debug/.build-id/11/" + std::string(38, '1') + ".debug";
    copyFile(fixtureFolder("whole-stripped") + "/debug-of-program", debug);
    copyFile(fixture("whole-stripped"), root + "/fs/srv/app/program");
    SymbolizerOptions options = nowhere();
    options.debugRoot = root + "/debug";
    options.symfs = root + "/fs";
    ModuleFinder finder(options);
    const ModuleFiles files = finder.find({.path = "/srv/app/program", .buildId = wholeId()});
    EXPECT_EQ(files.code, root + "/fs/srv/app/program");
    EXPECT_EQ(files.debug, debug);
    EXPECT_TRUE(files.verified);
}

TEST(ModuleFinder, doesNotTouchPipesInNamedFolders)
{
    const std::string folder = test::scratchFolder("finder-pipe");
    ASSERT_EQ(::mkfifo((folder + "/program").c_str(), 0600), 0);
    SymbolizerOptions options = nowhere();
    options.debugDirs = {folder};
    options.symfs = folder;
    ModuleFinder finder(options);
    EXPECT_FALSE(finder.find({.path = "/program"}).found());
}

TEST(ModuleFinder, tellsOfFoldersThatCannotBeRead)
{
    SymbolizerOptions options = nowhere();
    options.debugDirs = {"/nonexistent/folder"};
    ModuleFinder finder(options);
    EXPECT_FALSE(finder.find({.path = "/bin/a"}).found());
    EXPECT_EQ(codes(finder), "file-unreadable;");
}

} // namespace
} // namespace whichlock
