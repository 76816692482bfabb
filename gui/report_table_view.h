// SPDX-License-Identifier: GPL-3.0-or-later
// A table of a report at its full height: the page scrolls, not the table.
#pragma once

#include "analyzer/report/document.h"

#include <QTableView>

#include <vector>

namespace whichlock::gui {

/// Looks and keys that all tables of the window share.
void setUpTable(QTableView& view);

/// MT: one thread.
class ReportTableView final : public QTableView {
    Q_OBJECT
public:
    explicit ReportTableView(QWidget* parent = nullptr);

    /// Shows `table` through a model of its own. To be called once.
    void setTable(const DocumentTable& table);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitColumns();
    void dropOptionalColumns();

    std::vector<int> widths_; ///< of all columns, as their cells want them
    int allWidth_ = 0;
};

} // namespace whichlock::gui
