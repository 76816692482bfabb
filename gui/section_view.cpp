// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/section_view.h"

#include "gui/report_label.h"
#include "gui/report_table_view.h"
#include "gui/table_model.h"

#include <QFontDatabase>
#include <QVBoxLayout>

namespace whichlock::gui {
namespace {

void add(const DocumentText& text, QVBoxLayout& page)
{
    if (text.lines.empty())
        return;
    if (!text.label.empty())
        page.addWidget(makeHeading(shown(text.label), 0));
    auto* const lines = new QVBoxLayout;
    lines->setContentsMargins(text.label.empty() ? 0 : 2 * page.spacing(), 0, 0, page.spacing());
    lines->setSpacing(page.spacing() / 2);
    for (const std::string& line : text.lines) {
        QLabel* const label = makeLabel(shown(line));
        if (text.fixed)
            label->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
        lines->addWidget(label);
    }
    page.addLayout(lines);
}

void add(const DocumentTable& table, QVBoxLayout& page)
{
    if (!table.caption.empty())
        page.addWidget(makeHeading(shown(table.caption), 0));
    auto* const view = new ReportTableView;
    view->setTable(table);
    page.addWidget(view, 0, Qt::AlignLeft); // as wide as its columns: figures stand beside their names
    page.addSpacing(page.spacing());
}

void add(const DocumentHeading& heading, QVBoxLayout& page)
{
    page.addWidget(makeHeading(shown(heading.text), 2));
}

} // namespace

SectionView::SectionView(QWidget* parent)
    : QScrollArea(parent)
{
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setMinimumWidth(320);
    setAccessibleName(tr("Chosen section"));
}

void SectionView::setDocument(const Document& document)
{
    auto* const page = new QWidget;
    auto* const layout = new QVBoxLayout(page);
    for (const DocumentBlock& block : document.blocks)
        std::visit([&](const auto& one) { add(one, *layout); }, block);
    layout->addStretch();
    setWidget(page); // deletes the page before
    // New widgets come last in the order of Tab: bring the tables to where the eye meets them.
    QWidget* before = this;
    for (QTableView* const table : page->findChildren<QTableView*>()) {
        setTabOrder(before, table);
        before = table;
    }
}

} // namespace whichlock::gui
