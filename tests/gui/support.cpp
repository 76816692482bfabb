// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/support.h"

#include "analyzer/session/session.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>

namespace whichlock::test {

std::string testdata(const std::string& name)
{
    return std::string(WHICHLOCK_TESTDATA) + '/' + name;
}

Report reportOf(const std::string& path)
{
    OpenedInputs opened = openInputs({path});
    return buildReport(
        loadSession(std::move(opened.sources), std::move(opened.errors)), {}, RoutineTable::builtIn());
}

std::vector<DocumentTable> tablesOf(const Document& document)
{
    std::vector<DocumentTable> tables;
    for (const DocumentBlock& block : document.blocks) {
        if (const auto* table = std::get_if<DocumentTable>(&block))
            tables.push_back(*table);
    }
    return tables;
}

void checkModel(QAbstractItemModel& model)
{
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
}

std::shared_ptr<const gui::LoadedReport> loadWith(gui::ReportLoader& loader, const QStringList& paths)
{
    std::shared_ptr<const gui::LoadedReport> result;
    QSignalSpy spy(&loader, &gui::ReportLoader::loaded);
    QObject::connect(&loader, &gui::ReportLoader::loaded, &spy,
        [&](const std::shared_ptr<const gui::LoadedReport>& loaded) { result = loaded; });
    loader.start(paths);
    constexpr int kPatienceMs = 60'000;
    spy.wait(kPatienceMs);
    return result;
}

} // namespace whichlock::test
