// SPDX-License-Identifier: GPL-3.0-or-later
// The window: verdict on top, sections and the chosen one below it, diagnostics at the foot.
#pragma once

#include "gui/diagnostics_model.h"
#include "gui/report_loader.h"

#include <QMainWindow>

class QLabel;
class QListWidget;
class QProgressBar;
class QPushButton;
class QSplitter;
class QTableView;

namespace whichlock::gui {

class QueryBar;
class SectionView;

/// MT: one thread.
class MainWindow final : public QMainWindow {
    Q_OBJECT
public:
    explicit MainWindow(QWidget* parent = nullptr);

    /// Where the names of addresses come from; for files that are opened later.
    void setSymbols(const SymbolizerOptions& symbols);
    /// The question to begin with; for files that are opened later.
    void setQuery(const QueryTexts& texts);
    /// Begins to read; what was shown before goes away at once. Without paths nothing happens.
    void openFiles(const QStringList& paths);

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void makeMenus();
    QWidget* makeSections();
    QWidget* makeDiagnostics();
    void makeStatus();

    void read();
    void chooseFiles();
    void copyReport();
    void about();

    void showProgress(const QString& what, int done, int all);
    void showReport(const std::shared_ptr<const LoadedReport>& loaded);
    void showNothing(const QString& why);
    void showSection(int row);
    void showDiagnostics(const std::vector<Diagnostic>& diagnostics);
    void setReading(bool reading);

    ReportLoader loader_;
    QStringList paths_;
    SymbolizerOptions symbols_;
    std::shared_ptr<const LoadedReport> loaded_; ///< null until something was read
    DiagnosticsModel diagnostics_;
    QueryBar* queryBar_ = nullptr;
    QLabel* verdict_ = nullptr;
    QSplitter* panes_ = nullptr;
    QWidget* body_ = nullptr; ///< sections and the chosen one; hidden while nothing is read
    QListWidget* sections_ = nullptr;
    SectionView* sectionView_ = nullptr;
    QWidget* diagnosticsPane_ = nullptr;
    QTableView* diagnosticsView_ = nullptr;
    QProgressBar* bar_ = nullptr;
    QPushButton* cancel_ = nullptr;
    QAction* copy_ = nullptr;
};

} // namespace whichlock::gui
