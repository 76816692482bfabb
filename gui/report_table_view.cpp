// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/report_table_view.h"

#include "gui/table_model.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QScrollBar>

#include <algorithm>
#include <numeric>

namespace whichlock::gui {
namespace {

/// Widest column of words, in characters: beyond it the middle is left out.
constexpr int kMostCharacters = 64;

} // namespace

void setUpTable(QTableView& view)
{
    view.setAlternatingRowColors(true);
    view.setShowGrid(false);
    view.setWordWrap(false);
    view.setTextElideMode(Qt::ElideMiddle);
    view.setTabKeyNavigation(false); // Tab leads out of the table, arrows lead through it
    view.setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    view.setSelectionMode(QAbstractItemView::SingleSelection);
    view.verticalHeader()->hide();
    view.verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    view.verticalHeader()->setDefaultSectionSize(4 * view.fontMetrics().height() / 3);
    view.horizontalHeader()->setHighlightSections(false);
}

ReportTableView::ReportTableView(QWidget* parent)
    : QTableView(parent)
{
    setUpTable(*this);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void ReportTableView::setTable(const DocumentTable& table)
{
    auto* const model = new TableModel(table, this);
    setModel(model);
    for (int row = 0; row < model->rowCount(); ++row) {
        const QSize span = model->span(model->index(row, 0));
        if (span.width() > 1)
            setSpan(row, 0, 1, span.width());
    }
    fitColumns();
    setAccessibleName(shown(table.caption.empty() ? table.columns.front().title : table.caption));
    auto* const copy = new QAction(tr("Copy table as text"), this);
    connect(copy, &QAction::triggered, this, [model] {
        QApplication::clipboard()->setText(
            QString::fromStdString(renderText({.blocks = {DocumentBlock(model->table())}})));
    });
    addAction(copy);
    setContextMenuPolicy(Qt::ActionsContextMenu);
}

void ReportTableView::fitColumns()
{
    resizeColumnsToContents();
    const int character = fontMetrics().averageCharWidth();
    for (int column = 0; column < model()->columnCount(); ++column)
        setColumnWidth(column, std::min(columnWidth(column), kMostCharacters * character) + 2 * character);
    for (int column = 0; column < model()->columnCount(); ++column)
        widths_.push_back(columnWidth(column));
    allWidth_ = std::accumulate(widths_.begin(), widths_.end(), 0);
}

/// As in text: what a narrow page has no room for is left out, before a name or a rung is.
void ReportTableView::dropOptionalColumns()
{
    const auto* const shownTable = qobject_cast<const TableModel*>(model());
    if (shownTable == nullptr)
        return;
    const std::vector<DocumentColumn>& columns = shownTable->table().columns;
    const auto widthBelow = [&](int from) {
        int all = 0;
        for (size_t i = 0; i < widths_.size(); ++i)
            all += columns[i].optional < from ? widths_[i] : 0;
        return all;
    };
    constexpr int kFirstToGo = 4;
    int from = kFirstToGo;
    while (from > 1 && widthBelow(from) > viewport()->width())
        --from;
    for (size_t i = 0; i < columns.size(); ++i)
        setColumnHidden(static_cast<int>(i), columns[i].optional >= from);
}

QSize ReportTableView::sizeHint() const
{
    // A bar that shows takes room away from the last row.
    const int bar = horizontalScrollBar()->isVisibleTo(this) ? horizontalScrollBar()->sizeHint().height() : 0;
    const int height = horizontalHeader()->sizeHint().height() + verticalHeader()->length() + bar;
    return {allWidth_ + 2 * frameWidth(), height + 2 * frameWidth()};
}

QSize ReportTableView::minimumSizeHint() const
{
    return {QTableView::minimumSizeHint().width(), sizeHint().height()};
}

void ReportTableView::resizeEvent(QResizeEvent* event)
{
    QTableView::resizeEvent(event);
    dropOptionalColumns();
    updateGeometry();
}

} // namespace whichlock::gui
