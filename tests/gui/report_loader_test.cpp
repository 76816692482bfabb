// SPDX-License-Identifier: GPL-3.0-or-later
// The background job: it delivers what a direct call gives, and stops when it is told to.
#include "tests/gui/support.h"

#include <QCoreApplication>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QThreadPool>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace whichlock::test {
namespace {

using gui::ReportLoader;

constexpr int kPatienceMs = 20'000;

QString sample(const char* name)
{
    return QString::fromStdString(testdata(name));
}

TEST(ReportLoader, deliversTheReportOfADirectCall)
{
    const QString path = sample("opreport/kretprobe-vmstat/input.txt");
    ReportLoader loader;
    const auto loaded = loadWith(loader, {path});
    ASSERT_TRUE(loaded);
    const Report direct = reportOf(path.toStdString());
    EXPECT_EQ(renderJson(loaded->report), renderJson(direct));
    EXPECT_EQ(loaded->text, renderText(buildDocument(direct, {})));
    EXPECT_FALSE(loader.isRunning());
}

TEST(ReportLoader, readsSeveralFilesAsOneSession)
{
    ReportLoader loader;
    const auto loaded = loadWith(loader,
        {sample("readprofile/refilled-quote/input.txt"), sample("readprofile/refilled-quote/input2.txt")});
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->report.inputs.size(), 2U);
}

TEST(ReportLoader, saysInTheDiagnosticsThatAFileIsMissing)
{
    ReportLoader loader;
    const auto loaded = loadWith(loader, {"/nonexistent/profile.txt"});
    ASSERT_TRUE(loaded);
    ASSERT_EQ(loaded->report.diagnostics.size(), 1U);
    EXPECT_EQ(loaded->report.diagnostics[0].code, DiagnosticCode::FileUnreadable);
    EXPECT_TRUE(loaded->report.sections.empty());
}

/// A named pipe with something in it that does not end before the test wants it to. Both ends are open here,
/// so that a reader neither waits for the opening nor sees the end.
class EndlessInput {
public:
    EndlessInput()
    {
        ::mkfifo(path().toStdString().c_str(), 0600);
        descriptor_ = ::open(path().toStdString().c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
        constexpr int kPipeBytes = 1024 * 1024;
        EXPECT_GE(::fcntl(descriptor_, F_SETPIPE_SZ, kPipeBytes), 0);
        // More than the head that formats look at.
        const std::string lines(200'000, '\n');
        EXPECT_EQ(::write(descriptor_, lines.data(), lines.size()), static_cast<ssize_t>(lines.size()));
    }
    ~EndlessInput() { end(); }
    EndlessInput(const EndlessInput&) = delete;
    EndlessInput& operator=(const EndlessInput&) = delete;

    void end()
    {
        if (descriptor_ >= 0)
            ::close(descriptor_);
        descriptor_ = -1;
    }
    QString path() const { return folder_.filePath("pipe"); }

private:
    QTemporaryDir folder_;
    int descriptor_ = -1;
};

TEST(ReportLoader, tellsHowFarItIsAndStopsWhenCancelled)
{
    EndlessInput input;
    ReportLoader loader;
    QSignalSpy progressed(&loader, &ReportLoader::progressed);
    QSignalSpy cancelled(&loader, &ReportLoader::cancelled);
    QSignalSpy loaded(&loader, &ReportLoader::loaded);
    loader.start({input.path()});
    ASSERT_TRUE(progressed.wait(kPatienceMs));
    EXPECT_TRUE(progressed[0][0].toString().contains("pipe")) << progressed[0][0].toString().toStdString();
    EXPECT_TRUE(loader.isRunning());

    loader.cancel();
    EXPECT_EQ(cancelled.count(), 1);
    EXPECT_FALSE(loader.isRunning());
    input.end();
    EXPECT_TRUE(QThreadPool::globalInstance()->waitForDone(kPatienceMs));
    QCoreApplication::processEvents();
    EXPECT_EQ(loaded.count(), 0);
    EXPECT_EQ(cancelled.count(), 1);
}

/// Starts a job and returns when it is in the middle of its input.
void startReading(ReportLoader& loader, const EndlessInput& input)
{
    QSignalSpy progressed(&loader, &ReportLoader::progressed);
    loader.start({input.path()});
    ASSERT_TRUE(progressed.wait(kPatienceMs));
}

TEST(ReportLoader, deliversOnlyTheLastOfTwoJobsThoughTheFirstHangs)
{
    QThreadPool::globalInstance()->setMaxThreadCount(1);
    EndlessInput first;
    ReportLoader loader;
    QSignalSpy loaded(&loader, &ReportLoader::loaded);
    startReading(loader, first);
    const auto second = loadWith(loader, {sample("readprofile/bins/input.txt")});
    ASSERT_TRUE(second);
    first.end();
    EXPECT_TRUE(QThreadPool::globalInstance()->waitForDone(kPatienceMs));
    QCoreApplication::processEvents();
    EXPECT_EQ(loaded.count(), 1);
    ASSERT_EQ(second->report.inputs.size(), 1U);
    EXPECT_NE(second->report.inputs[0].name.find("bins"), std::string::npos);
}

TEST(ReportLoader, mayGoAwayWhileItsJobRuns)
{
    EndlessInput input;
    {
        ReportLoader loader;
        startReading(loader, input);
    }
    input.end();
    EXPECT_TRUE(QThreadPool::globalInstance()->waitForDone(kPatienceMs));
}

} // namespace
} // namespace whichlock::test
