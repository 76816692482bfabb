// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/main_window.h"

#include "analyzer/report/document.h"
#include "analyzer/report/version.h"
#include "gui/query_bar.h"
#include "gui/report_label.h"
#include "gui/report_table_view.h"
#include "gui/section_view.h"
#include "gui/table_model.h"

#include <QApplication>
#include <QClipboard>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QListWidget>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QProgressBar>
#include <QPushButton>
#include <QSplitter>
#include <QStatusBar>
#include <QVBoxLayout>

namespace whichlock::gui {
namespace {

/// Title and place: titles may repeat or be missing, as those of the events of a recording are.
QString entryOf(const ReportSection& section)
{
    const std::string event = section.event.empty() ? "" : ", " + section.event;
    const bool counts = section.kind == SectionKind::LockTrace && !section.lockTable;
    const std::string what = section.trace ? "waits for locks"
        : counts                           ? "events counted, not timed"
                                           : section.format + event;
    // Where in a recording the first sample of an event lies, tells nobody anything.
    const bool recording = section.format == "perf.data";
    return shown(section.title.empty() ? what : section.title) + '\n'
        + shown(recording ? section.position.chain : toString(section.position));
}

/// The options that say the same to the command line.
QStringList optionsOf(const SymbolizerOptions& symbols)
{
    QStringList options;
    const auto add = [&](const char* name, const std::string& value) {
        if (!value.empty())
            options << name << QString::fromStdString(value);
    };
    for (const std::string& folder : symbols.debugDirs)
        add("--debug-dir", folder);
    add("--symfs", symbols.symfs);
    add("--vmlinux", symbols.vmlinux);
    add("--kallsyms", symbols.kallsyms);
    return options;
}

QStringList localFiles(const QMimeData& data)
{
    QStringList paths;
    for (const QUrl& url : data.urls()) {
        if (url.isLocalFile())
            paths.push_back(url.toLocalFile());
    }
    return paths;
}

} // namespace

MainWindow::MainWindow(QWidget* parent)
    : QMainWindow(parent)
{
    setAcceptDrops(true);
    makeMenus();
    makeStatus();
    queryBar_ = new QueryBar;
    verdict_ = makeHeading({}, 4);
    verdict_->setObjectName("verdict");
    verdict_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    verdict_->setFocusPolicy(Qt::StrongFocus);
    panes_ = new QSplitter(Qt::Vertical);
    panes_->setChildrenCollapsible(false);
    panes_->addWidget(makeSections());
    panes_->addWidget(makeDiagnostics());
    panes_->setStretchFactor(0, 1);
    auto* const centre = new QWidget;
    auto* const layout = new QVBoxLayout(centre);
    layout->addWidget(queryBar_);
    layout->addWidget(verdict_);
    layout->addWidget(panes_, 1);
    setCentralWidget(centre);
    setMinimumSize(640, 400);
    resize(1100, 800);

    connect(queryBar_, &QueryBar::changed, this, [this] { read(); });
    connect(&loader_, &ReportLoader::progressed, this, &MainWindow::showProgress);
    connect(&loader_, &ReportLoader::loaded, this, &MainWindow::showReport);
    connect(&loader_, &ReportLoader::cancelled, this,
        [this] { showNothing(tr("Reading was cancelled. File > Open... begins again.")); });
    setWindowTitle(tr("whichlock"));
    showNothing(tr("No file is open. File > Open..., or drop profiles here."));
}

void MainWindow::makeMenus()
{
    QMenu* const file = menuBar()->addMenu(tr("&File"));
    file->addAction(tr("&Open..."), QKeySequence::Open, this, &MainWindow::chooseFiles);
    copy_ = file->addAction(
        tr("&Copy report"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C), this, &MainWindow::copyReport);
    file->addSeparator();
    file->addAction(tr("&Quit"), QKeySequence::Quit, this, &QWidget::close);
    QMenu* const help = menuBar()->addMenu(tr("&Help"));
    help->addAction(tr("&About whichlock"), this, &MainWindow::about);
}

QWidget* MainWindow::makeSections()
{
    auto* const left = new QWidget;
    auto* const layout = new QVBoxLayout(left);
    layout->setContentsMargins(0, 0, 0, 0);
    auto* const title = new QLabel(tr("&Sections"));
    sections_ = new QListWidget;
    sections_->setObjectName("sections");
    sections_->setTextElideMode(Qt::ElideMiddle);
    sections_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    sections_->setAlternatingRowColors(true);
    sections_->setSpacing(2);
    title->setBuddy(sections_);
    layout->addWidget(title);
    layout->addWidget(sections_);
    connect(sections_, &QListWidget::currentRowChanged, this, &MainWindow::showSection);

    sectionView_ = new SectionView;
    auto* const splitter = new QSplitter(Qt::Horizontal);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(left);
    splitter->addWidget(sectionView_);
    splitter->setStretchFactor(1, 1);
    splitter->setSizes({300, 800});
    body_ = splitter;
    return splitter;
}

QWidget* MainWindow::makeDiagnostics()
{
    diagnosticsPane_ = new QWidget;
    auto* const layout = new QVBoxLayout(diagnosticsPane_);
    layout->setContentsMargins(0, 0, 0, 0);
    auto* const title = new QLabel(tr("&Left out, repaired, unreadable"));
    diagnosticsView_ = new QTableView;
    diagnosticsView_->setObjectName("diagnostics");
    diagnosticsView_->setAccessibleName(tr("Diagnostics"));
    setUpTable(*diagnosticsView_);
    diagnosticsView_->setModel(&diagnostics_);
    diagnosticsView_->setWordWrap(true); // these are sentences, to be read whole
    diagnosticsView_->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    diagnosticsView_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    diagnosticsView_->horizontalHeader()->setSectionResizeMode(
        DiagnosticsModel::WhatColumn, QHeaderView::Stretch);
    for (const int column : {DiagnosticsModel::WhereColumn, DiagnosticsModel::AdviceColumn})
        diagnosticsView_->horizontalHeader()->setSectionResizeMode(column, QHeaderView::Interactive);
    title->setBuddy(diagnosticsView_);
    layout->addWidget(title);
    layout->addWidget(diagnosticsView_);
    return diagnosticsPane_;
}

void MainWindow::makeStatus()
{
    bar_ = new QProgressBar;
    bar_->setMaximumWidth(220);
    cancel_ = new QPushButton(tr("Ca&ncel"));
    connect(cancel_, &QPushButton::clicked, &loader_, &ReportLoader::cancel);
    statusBar()->addPermanentWidget(bar_);
    statusBar()->addPermanentWidget(cancel_);
}

void MainWindow::setSymbols(const SymbolizerOptions& symbols)
{
    symbols_ = symbols;
    queryBar_->setCommand(optionsOf(symbols_), paths_);
}

void MainWindow::setQuery(const QueryTexts& texts)
{
    queryBar_->setTexts(texts);
}

void MainWindow::openFiles(const QStringList& paths)
{
    if (paths.isEmpty())
        return;
    paths_ = paths;
    queryBar_->setCommand(optionsOf(symbols_), paths_);
    read();
}

void MainWindow::read()
{
    if (paths_.isEmpty())
        return;
    QStringList names;
    for (const QString& path : paths_)
        names.push_back(QFileInfo(path).fileName());
    const QString all = names.join(", ");
    setWindowTitle(tr("%1 - whichlock").arg(all));
    showNothing(tr("Reading %1 ...").arg(all));
    setReading(true);
    loader_.start(paths_, {.query = queryBar_->query(), .symbols = symbols_});
}

void MainWindow::showProgress(const QString& what, int done, int all)
{
    statusBar()->showMessage(what);
    bar_->setRange(0, all);
    bar_->setValue(done);
}

void MainWindow::showReport(const std::shared_ptr<const LoadedReport>& loaded)
{
    showNothing({});
    const Report& report = loaded->report;
    loaded_ = loaded;
    copy_->setEnabled(true);
    verdict_->setText(report.internalError.empty()
            ? shown(report.verdict.text)
            : tr("Internal error, please report it: %1").arg(shown(report.internalError)));
    // Open on the answer: the section that decided the verdict.
    int answer = 0;
    for (const size_t index : shownSections(report)) {
        const ReportSection& section = report.sections[index];
        auto* const item = new QListWidgetItem(entryOf(section), sections_);
        item->setToolTip(Qt::convertFromPlainText(entryOf(section)));
        item->setData(Qt::UserRole, static_cast<qulonglong>(index));
        if (report.verdict.section == index)
            answer = sections_->count() - 1;
    }
    new QListWidgetItem(tr("Overview and next steps"), sections_);
    body_->setVisible(!report.sections.empty()); // else the diagnostics say why, and have all the room
    sections_->setCurrentRow(answer);
    sections_->setFocus();
    showDiagnostics(report.diagnostics);
}

void MainWindow::showDiagnostics(const std::vector<Diagnostic>& diagnostics)
{
    diagnostics_.setDiagnostics(diagnostics);
    diagnosticsPane_->setVisible(!diagnostics.empty());
    if (diagnostics.empty()) {
        statusBar()->showMessage(tr("Nothing was lost, skipped or repaired."));
        return;
    }
    const int widest = width() / 4; // half is for what happened
    for (const int column : {DiagnosticsModel::WhereColumn, DiagnosticsModel::AdviceColumn}) {
        diagnosticsView_->resizeColumnToContents(column);
        diagnosticsView_->setColumnWidth(column, std::min(diagnosticsView_->columnWidth(column), widest));
    }
    // As high as the first few need; the rest of the window belongs to the section.
    constexpr int kRows = 5;
    const int line = 2 * fontMetrics().height();
    const int wanted = (std::min(diagnostics_.rowCount(), kRows) + 2) * line;
    panes_->setSizes({std::max(panes_->height() - wanted, wanted), wanted});
}

void MainWindow::showNothing(const QString& why)
{
    setReading(false);
    loaded_.reset();
    copy_->setEnabled(false);
    verdict_->setText(why);
    sections_->clear();
    sectionView_->setDocument({});
    diagnostics_.setDiagnostics({});
    body_->hide();
    diagnosticsPane_->hide();
    statusBar()->clearMessage();
}

void MainWindow::showSection(int row)
{
    if (!loaded_ || row < 0)
        return;
    const QVariant index = sections_->item(row)->data(Qt::UserRole);
    const Report& report = loaded_->report;
    sectionView_->setDocument(
        index.isValid() ? sectionDocument(report, index.toULongLong()) : summaryDocument(report));
}

void MainWindow::setReading(bool reading)
{
    bar_->setRange(0, 0);
    bar_->setVisible(reading);
    cancel_->setVisible(reading);
}

void MainWindow::chooseFiles()
{
    openFiles(QFileDialog::getOpenFileNames(this, tr("Open profiles")));
}

void MainWindow::copyReport()
{
    if (loaded_)
        QApplication::clipboard()->setText(QString::fromStdString(loaded_->text));
}

void MainWindow::about()
{
    QMessageBox::about(this, tr("About whichlock"),
        tr("whichlock %1\n\nReads profiles and says which lock a machine waits for.").arg(kVersion));
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (!localFiles(*event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    event->acceptProposedAction();
    openFiles(localFiles(*event->mimeData()));
}

} // namespace whichlock::gui
