// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/report_loader.h"

#include "analyzer/report/document.h"
#include "analyzer/session/session.h"
#include "gui/table_model.h"

#include <QFile>
#include <QLocale>
#include <QPromise>
#include <QThreadPool>
#include <QtConcurrentRun>

#include <algorithm>
#include <exception>
#include <limits>

namespace whichlock::gui {
namespace {

using ResultPtr = std::shared_ptr<const LoadedReport>;

/// Progress bars count in int: kibibytes reach far enough.
int barValue(uint64_t bytes)
{
    constexpr uint64_t kKibi = 1024;
    constexpr uint64_t kMost = std::numeric_limits<int>::max() / 2; // leaves room for steps
    return static_cast<int>(std::min(bytes / kKibi + 1, kMost));
}

QString dataSize(uint64_t bytes)
{
    constexpr uint64_t kMost = std::numeric_limits<qint64>::max();
    return QLocale().formattedDataSize(static_cast<qint64>(std::min(bytes, kMost)));
}

/// Tells the promise how far the sources are; a cancelled promise ends every source at its next piece.
void watch(const std::vector<std::unique_ptr<Source>>& sources, QPromise<ResultPtr>& promise)
{
    uint64_t all = 0;
    for (const auto& source : sources)
        all += source->sizeBytes();
    // Each source may have a step behind its reading.
    promise.setProgressRange(0, all == 0 ? 0 : barValue(all) + static_cast<int>(sources.size()));
    uint64_t before = 0;
    for (const auto& source : sources) {
        source->setProgress([&promise, before, name = source->name()](uint64_t done, uint64_t size) {
            const QString amount = size == 0
                ? ReportLoader::tr("%1 read").arg(dataSize(done))
                : ReportLoader::tr("%1 of %2").arg(dataSize(done), dataSize(size));
            promise.setProgressValueAndText(
                barValue(before + done), ReportLoader::tr("Reading %1: %2").arg(shown(name), amount));
            return !promise.isCanceled();
        });
        before += source->sizeBytes();
    }
}

/// While it lives, the thread does not count as busy: a job that hangs in a read must not keep the next one
/// from starting, even where the pool has one thread.
class UncountedThread {
public:
    UncountedThread() { QThreadPool::globalInstance()->releaseThread(); }
    ~UncountedThread() { QThreadPool::globalInstance()->reserveThread(); }
    UncountedThread(const UncountedThread&) = delete;
    UncountedThread& operator=(const UncountedThread&) = delete;
};

void readAndReport(
    QPromise<ResultPtr>& promise, const std::vector<std::string>& paths, const LoadRequest& request)
{
    const UncountedThread uncounted;
    auto result = std::make_shared<LoadedReport>();
    try {
        OpenedInputs opened = openInputs(paths);
        watch(opened.sources, promise);
        RecordingOptions recording = selectionOf(request.query);
        recording.step = [&promise](const std::string& what) {
            promise.setProgressValueAndText(promise.future().progressValue() + 1, shown(what) + " ...");
        };
        const Profile profile =
            loadSession(std::move(opened.sources), std::move(opened.errors), request.symbols, recording);
        if (promise.isCanceled())
            return;
        result->report = buildReport(profile, request.query, RoutineTable::builtIn());
        result->text = renderText(buildDocument(result->report, {}));
    } catch (const std::exception& error) {
        // Input never throws; memory may run out. A window that stays and says so beats one that vanishes.
        *result = {};
        result->report.internalError = error.what();
    }
    promise.addResult(ResultPtr(std::move(result)));
}

} // namespace

ReportLoader::ReportLoader(QObject* parent)
    : QObject(parent)
{
    connect(&watcher_, &QFutureWatcherBase::progressTextChanged, this, [this](const QString& text) {
        if (running_)
            emit progressed(text, watcher_.progressValue(), watcher_.progressMaximum());
    });
    connect(&watcher_, &QFutureWatcherBase::finished, this, &ReportLoader::finish);
}

ReportLoader::~ReportLoader()
{
    watcher_.future().cancel();
}

void ReportLoader::start(const QStringList& paths, const LoadRequest& request)
{
    watcher_.future().cancel();
    std::vector<std::string> names;
    for (const QString& path : paths)
        names.push_back(QFile::encodeName(path).toStdString());
    running_ = true;
    watcher_.setFuture(QtConcurrent::run(readAndReport, std::move(names), request));
}

void ReportLoader::cancel()
{
    if (!running_)
        return;
    running_ = false;
    watcher_.future().cancel();
    emit cancelled();
}

void ReportLoader::finish()
{
    if (!running_ || watcher_.isCanceled())
        return;
    running_ = false;
    emit loaded(watcher_.result());
}

} // namespace whichlock::gui
