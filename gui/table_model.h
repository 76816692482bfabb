// SPDX-License-Identifier: GPL-3.0-or-later
// A table of the report's document as a Qt item model: every cell as it stands there, nothing computed.
#pragma once

#include "analyzer/report/document.h"

#include <QAbstractTableModel>

namespace whichlock::gui {

/// Where in the JSON report the figure of a cell stands; empty for labels.
inline constexpr int kJsonPointerRole = Qt::UserRole;

/// Text of the report for widgets: control characters are taken out, broken UTF-8 is marked.
QString shown(const std::string& text);

/// One table. Never changes once made. MT: one thread.
class TableModel final : public QAbstractTableModel {
    Q_OBJECT
public:
    explicit TableModel(DocumentTable table, QObject* parent = nullptr);

    const DocumentTable& table() const { return table_; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    /// A row of one cell, such as `3 more rows`, goes over the whole width.
    QSize span(const QModelIndex& index) const override;

private:
    DocumentTable table_;
};

} // namespace whichlock::gui
