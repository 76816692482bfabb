// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/version.h"
#include "gui/main_window.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QThreadPool>

#include <cstdlib>

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
    parser.process(application);

    int exitCode = EXIT_SUCCESS;
    {
        whichlock::gui::MainWindow window;
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
