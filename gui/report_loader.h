// SPDX-License-Identifier: GPL-3.0-or-later
// Reads files and makes their report in the background, so that the window never waits for an input.
#pragma once

#include "analyzer/report/report.h"
#include "analyzer/symbols/symbolizer_options.h"

#include <QFutureWatcher>
#include <QObject>
#include <QStringList>

#include <memory>

namespace whichlock::gui {

/// What is asked of the files, and where names come from.
struct LoadRequest {
    Query query{};
    SymbolizerOptions symbols{};
};

/// A finished report and its text. Never changes: any number of views may hold it.
struct LoadedReport {
    Report report;
    std::string text; ///< what `whichlock report` prints
};

/// One job at a time; starting another gives the running one up.
/// MT: one thread (that of the window). The job works on values of its own and hands over a finished one; it
/// never touches the loader, so that a job that hangs in a read outlives the loader without harm.
class ReportLoader final : public QObject {
    Q_OBJECT
public:
    explicit ReportLoader(QObject* parent = nullptr);
    ~ReportLoader() override;

    void start(const QStringList& paths, const LoadRequest& request = {});
    void cancel();
    bool isRunning() const { return running_; }

signals:
    /// `all` is 0 where the size is not known beforehand; both are only fit for a progress bar.
    void progressed(const QString& what, int done, int all);
    void loaded(const std::shared_ptr<const LoadedReport>& result);
    void cancelled();

private:
    void finish();

    QFutureWatcher<std::shared_ptr<const LoadedReport>> watcher_;
    bool running_ = false;
};

} // namespace whichlock::gui
