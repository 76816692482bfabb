// SPDX-License-Identifier: GPL-3.0-or-later
// What the window shows of a report, found by the names of its parts.
#include "gui/main_window.h"
#include "gui/table_model.h"
#include "tests/gui/support.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include <fstream>
#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

using gui::MainWindow;

constexpr int kPatienceMs = 20'000;

QString verdictOf(const MainWindow& window)
{
    return window.findChild<QLabel*>("verdict")->text();
}

/// Opens files and waits until the window no longer reads.
void open(MainWindow& window, const std::string& path)
{
    window.show();
    window.openFiles({QString::fromStdString(path)});
    EXPECT_TRUE(verdictOf(window).startsWith("Reading "));
    EXPECT_TRUE(QTest::qWaitFor([&] { return !verdictOf(window).startsWith("Reading "); }, kPatienceMs));
}

TEST(MainWindow, opensOnTheSectionThatDecidedTheVerdict)
{
    const std::string path = testdata("opreport/kretprobe-vmstat/input.txt");
    MainWindow window;
    open(window, path);
    const Report report = reportOf(path);
    EXPECT_EQ(verdictOf(window).toStdString(), report.verdict.text);
    const auto* sections = window.findChild<QListWidget*>("sections");
    ASSERT_EQ(sections->count(), static_cast<int>(report.sections.size()) + 1);
    EXPECT_EQ(static_cast<size_t>(sections->currentRow()), report.verdict.section);
}

TEST(MainWindow, listsCountedEventsOnce)
{
    const std::string path = testing::TempDir() + "counted_events.txt";
    std::ofstream(path) << "a 100/100 [000] 10.000100: sched:sched_stat_runtime: comm=a pid=100 runtime=1\n"
                           "a 100/100 [000] 10.000200: sched:sched_migrate_task: comm=a pid=100 prio=1\n";
    MainWindow window;
    open(window, path);
    auto* sections = window.findChild<QListWidget*>("sections");
    ASSERT_EQ(sections->count(), 2); // and the overview
    sections->setCurrentRow(0);
    int rows = 0;
    for (const QTableView* view : window.findChildren<QTableView*>()) {
        if (const auto* model = qobject_cast<const gui::TableModel*>(view->model()))
            rows += model->rowCount();
    }
    EXPECT_EQ(rows, 2);
}

TEST(MainWindow, showsEveryTableOfTheChosenSection)
{
    const std::string path = testdata("readprofile/ia64-512p-flat/input.txt");
    MainWindow window;
    open(window, path);
    const Report report = reportOf(path);
    auto* sections = window.findChild<QListWidget*>("sections");
    for (size_t i = 0; i < report.sections.size(); ++i) {
        sections->setCurrentRow(static_cast<int>(i));
        std::vector<std::string> shown;
        for (const QTableView* view : window.findChildren<QTableView*>()) {
            if (const auto* model = qobject_cast<const gui::TableModel*>(view->model()))
                shown.push_back(renderText({.blocks = {DocumentBlock(model->table())}}));
        }
        std::vector<std::string> expected;
        for (const DocumentTable& table : tablesOf(sectionDocument(report, i)))
            expected.push_back(renderText({.blocks = {DocumentBlock(table)}}));
        EXPECT_EQ(shown, expected);
    }
}

TEST(MainWindow, leadsTabThroughTheTablesOfTheSectionBeforeTheDiagnostics)
{
    MainWindow window;
    open(window, testdata("opreport/kretprobe-vmstat/input.txt"));
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
    EXPECT_EQ(QApplication::focusWidget(), window.findChild<QListWidget*>("sections"));
    std::vector<bool> ofSection; // of the tables that Tab comes to
    for (int press = 0; press < 20 && (ofSection.empty() || ofSection.back()); ++press) {
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        if (const auto* view = qobject_cast<QTableView*>(QApplication::focusWidget()))
            ofSection.push_back(qobject_cast<const gui::TableModel*>(view->model()) != nullptr);
    }
    EXPECT_EQ(ofSection, (std::vector<bool>{true, true, true, false}));
}

TEST(MainWindow, copiesTheReportThatTheCommandLinePrints)
{
    const std::string path = testdata("readprofile/bins/input.txt");
    MainWindow window;
    open(window, path);
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
    QTest::keyClick(&window, Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(QApplication::clipboard()->text().toStdString(), renderText(buildDocument(reportOf(path), {})));
}

/// Types into a field of the bar, which then asks anew.
void ask(MainWindow& window, const char* field, const QString& text)
{
    auto* edit = window.findChild<QLineEdit*>(field);
    edit->setText(text);
    QTest::keyClick(edit, Qt::Key_Return);
    EXPECT_TRUE(QTest::qWaitFor([&] { return !verdictOf(window).startsWith("Reading "); }, kPatienceMs));
}

/// A recording of two threads as perf script prints it.
class Script {
public:
    Script()
    {
        QFile file(path());
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        for (const char* thread : {"slow 17", "slow 17", "fast 18"})
            file.write(QByteArray(thread)
                + " [000] 10.000000: 250000 cpu-clock:\n\tffffffff81004005 do_work+0x5 "
                  "([kernel.kallsyms])\n\n");
    }
    QString path() const { return folder_.filePath("script.txt"); }

private:
    QTemporaryDir folder_;
};

TEST(MainWindow, asksAnewForAPartOfTheSamplesAndShowsTheCommandLine)
{
    const Script script;
    MainWindow window;
    window.setSymbols({.debugDirs = {"/some where"}});
    open(window, script.path().toStdString());
    const auto* command = window.findChild<QLabel*>("command");
    EXPECT_EQ(command->text(), "whichlock report --debug-dir '/some where' " + script.path());
    ask(window, "thread", "slow");
    EXPECT_TRUE(verdictOf(window).endsWith("Only this was looked at: thread slow."));
    EXPECT_EQ(command->text(), "whichlock report --thread slow --debug-dir '/some where' " + script.path());
    ask(window, "thread", "");
    EXPECT_FALSE(verdictOf(window).contains("Only this"));
}

TEST(MainWindow, saysWhatIsWrongWithAQuestionAndKeepsTheReport)
{
    const Script script;
    MainWindow window;
    open(window, script.path().toStdString());
    const QString before = verdictOf(window);
    ask(window, "focus", "do_(");
    const auto* mistake = window.findChild<QLabel*>("mistake");
    EXPECT_TRUE(mistake->isVisible());
    EXPECT_TRUE(mistake->text().contains("missing )")) << mistake->text().toStdString();
    EXPECT_EQ(verdictOf(window), before);
    ask(window, "focus", "do_");
    EXPECT_FALSE(mistake->isVisible());
    EXPECT_TRUE(verdictOf(window).endsWith("stacks with /do_/."));
}

TEST(MainWindow, beginsWithTheQuestionOfTheCommandLine)
{
    const Script script;
    MainWindow window;
    window.setQuery({.by = "thread", .processes = {}, .cpus = {"0"}});
    open(window, script.path().toStdString());
    EXPECT_EQ(window.findChild<QComboBox*>("by")->currentText(), "thread");
    EXPECT_EQ(window.findChild<QLineEdit*>("cpu")->text(), "0");
    EXPECT_TRUE(verdictOf(window).endsWith("CPU 0."));
    EXPECT_EQ(window.findChild<QLabel*>("command")->text(),
        "whichlock report --by thread --cpu 0 " + script.path());
}

TEST(MainWindow, showsThatAFileIsMissingAmongTheDiagnostics)
{
    MainWindow window;
    open(window, "/nonexistent/profile.txt");
    const auto* diagnostics = window.findChild<QTableView*>("diagnostics");
    EXPECT_TRUE(diagnostics->isVisible());
    ASSERT_EQ(diagnostics->model()->rowCount(), 1);
    const auto cell = [&](int column) { return diagnostics->model()->index(0, column).data().toString(); };
    EXPECT_EQ(cell(gui::DiagnosticsModel::SeverityColumn), "error");
    EXPECT_TRUE(cell(gui::DiagnosticsModel::WhereColumn).contains("/nonexistent/profile.txt"));
}

TEST(MainWindow, showsTextOfAnInputAsItIsAndNeverAsMarkup)
{
    MainWindow window;
    open(window, "/nonexistent/<b>bold</b>.txt");
    for (const QLabel* label : window.findChildren<QLabel*>()) {
        if (label->text().isEmpty() || label->buddy() != nullptr)
            continue;
        EXPECT_EQ(label->textFormat(), Qt::PlainText) << label->text().toStdString();
    }
}

} // namespace
} // namespace whichlock::test
