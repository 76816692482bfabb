// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/diagnostics_model.h"

#include "analyzer/report/value_format.h"
#include "gui/table_model.h"

namespace whichlock::gui {
namespace {

std::string textOf(const Diagnostic& diagnostic, int column)
{
    switch (column) {
    case DiagnosticsModel::SeverityColumn:
        return std::string(severityName(diagnostic.severity));
    case DiagnosticsModel::WhereColumn:
        return toString(diagnostic.position);
    case DiagnosticsModel::WhatColumn:
        return diagnostic.message;
    case DiagnosticsModel::CountColumn:
        return formatCount(diagnostic.count);
    case DiagnosticsModel::AdviceColumn:
        return std::string(codeAdvice(diagnostic.code));
    default:
        return {};
    }
}

/// The field of the same figure or text in the JSON report; a position has fields of its own there.
const char* fieldOf(int column)
{
    switch (column) {
    case DiagnosticsModel::SeverityColumn:
        return "severity";
    case DiagnosticsModel::WhatColumn:
        return "message";
    case DiagnosticsModel::CountColumn:
        return "count";
    default:
        return nullptr;
    }
}

QVariant alignment(int column)
{
    const bool right = column == DiagnosticsModel::CountColumn;
    return QVariant::fromValue(Qt::AlignVCenter | (right ? Qt::AlignRight : Qt::AlignLeft));
}

} // namespace

void DiagnosticsModel::setDiagnostics(std::vector<Diagnostic> diagnostics)
{
    beginResetModel();
    diagnostics_ = std::move(diagnostics);
    endResetModel();
}

int DiagnosticsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(diagnostics_.size());
}

int DiagnosticsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant DiagnosticsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const Diagnostic& diagnostic = diagnostics_[static_cast<size_t>(index.row())];
    const char* const field = fieldOf(index.column());
    switch (role) {
    case Qt::DisplayRole:
        return shown(textOf(diagnostic, index.column()));
    case Qt::TextAlignmentRole:
        return alignment(index.column());
    case kJsonPointerRole:
        return field == nullptr ? QString()
                                : QStringLiteral("/diagnostics/%1/%2").arg(index.row()).arg(field);
    default:
        return {};
    }
}

QVariant DiagnosticsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole)
        return alignment(section);
    if (role != Qt::DisplayRole)
        return {};
    constexpr const char* kTitles[ColumnCount] = {"Severity", "Where", "What", "Count", "What to do"};
    return tr(kTitles[section]);
}

} // namespace whichlock::gui
