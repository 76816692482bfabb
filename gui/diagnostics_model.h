// SPDX-License-Identifier: GPL-3.0-or-later
// What was left out, repaired or could not be read, as a Qt item model: one row a diagnostic, in the report's
// order.
#pragma once

#include "analyzer/report/report.h"

#include <QAbstractTableModel>

namespace whichlock::gui {

/// MT: one thread.
class DiagnosticsModel final : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { SeverityColumn, WhereColumn, WhatColumn, CountColumn, AdviceColumn, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    void setDiagnostics(std::vector<Diagnostic> diagnostics);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    std::vector<Diagnostic> diagnostics_;
};

} // namespace whichlock::gui
