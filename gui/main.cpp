// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/value_format.h"
#include "analyzer/report/version.h"
#include "gui/main_window.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QFile>
#include <QThreadPool>

#include <cstdio>
#include <cstdlib>

namespace {

using whichlock::QueryTexts;
using whichlock::SymbolizerOptions;

/// The options of `whichlock report` that make sense here, too.
void addOptions(QCommandLineParser& parser)
{
    parser.addOptions({
        {"by", QString::fromStdString("Rows of the main table: " + whichlock::groupByNames() + "."), "WHAT"},
        {"time", "Only samples of this time: 1.5-2.25, 10%-20% or 794.1,794.2.", "FROM-TO"},
        {"thread", "Only these threads.", "NAME|TID"},
        {"process", "Only these processes.", "NAME|PID"},
        {"cpu", "Only samples of these CPUs: 0,2-5.", "LIST"},
        {"focus", "Only samples with a function in their call chain in which this is found (RE2).", "REGEX"},
        {"lock", "This lock in depth, by any part of its name, its number or its address.", "NAME"},
        {"holds", "How long locks were held, where traces have recorded that."},
        {"symfs", "Where the recorded paths of programs and libraries begin.", "DIR"},
        {"debug-dir", "A folder with programs or debug files; may be given several times.", "DIR"},
        {"vmlinux", "The recorded kernel.", "FILE"},
        {"kallsyms", "/proc/kallsyms or System.map of the recorded kernel.", "FILE"},
    });
}

std::vector<std::string> valuesOf(const QCommandLineParser& parser, const char* option)
{
    std::vector<std::string> values;
    for (const QString& value : parser.values(option))
        values.push_back(QFile::encodeName(value).toStdString());
    return values;
}

std::optional<std::string> valueOf(const QCommandLineParser& parser, const char* option)
{
    auto values = valuesOf(parser, option);
    return values.empty() ? std::nullopt : std::optional(std::move(values.back()));
}

QueryTexts queryOf(const QCommandLineParser& parser)
{
    return {.by = valueOf(parser, "by"),
        .time = valueOf(parser, "time"),
        .threads = valuesOf(parser, "thread"),
        .processes = valuesOf(parser, "process"),
        .cpus = valuesOf(parser, "cpu"),
        .focus = valueOf(parser, "focus").value_or(""),
        .lock = valueOf(parser, "lock").value_or(""),
        .holds = parser.isSet("holds")};
}

SymbolizerOptions symbolsOf(const QCommandLineParser& parser)
{
    SymbolizerOptions symbols;
    symbols.symfs = valueOf(parser, "symfs").value_or("");
    symbols.debugDirs = valuesOf(parser, "debug-dir");
    symbols.vmlinux = valueOf(parser, "vmlinux").value_or("");
    symbols.kallsyms = valueOf(parser, "kallsyms").value_or("");
    return symbols;
}

} // namespace

int main(int argc, char** argv)
{
    const QApplication application(argc, argv);
    QCoreApplication::setApplicationName("whichlock-gui");
    QCoreApplication::setApplicationVersion(whichlock::kVersion);
    QCommandLineParser parser;
    parser.setApplicationDescription("Reads profiles and says which lock a machine waits for.");
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument("FILE", "Profiles to read as one session.", "[FILE...]");
    addOptions(parser);
    parser.process(application);
    const QueryTexts texts = queryOf(parser);
    if (const auto query = whichlock::parseQuery(texts); !query) {
        std::fprintf(stderr, "whichlock-gui: %s\n", whichlock::printable(query.error()).c_str());
        return EXIT_FAILURE;
    }

    int exitCode = EXIT_SUCCESS;
    {
        whichlock::gui::MainWindow window;
        window.setSymbols(symbolsOf(parser));
        window.setQuery(texts);
        window.show();
        window.openFiles(parser.positionalArguments());
        exitCode = QApplication::exec();
    }
    // A job may hang in a read, as of a pipe that nobody writes to. It changes nothing: leave without it.
    constexpr int kPatienceMs = 500;
    if (!QThreadPool::globalInstance()->waitForDone(kPatienceMs))
        std::_Exit(exitCode);
    return exitCode;
}
