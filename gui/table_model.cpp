// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/table_model.h"

#include "analyzer/report/value_format.h"

#include <QSize>

namespace whichlock::gui {
namespace {

QVariant alignment(Align align)
{
    return QVariant::fromValue(Qt::AlignVCenter | (align == Align::Right ? Qt::AlignRight : Qt::AlignLeft));
}

} // namespace

QString shown(const std::string& text)
{
    return QString::fromStdString(printable(text));
}

TableModel::TableModel(DocumentTable table, QObject* parent)
    : QAbstractTableModel(parent)
    , table_(std::move(table))
{
}

int TableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(table_.rows.size());
}

int TableModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(table_.columns.size());
}

QVariant TableModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const auto column = static_cast<size_t>(index.column());
    if (role == Qt::TextAlignmentRole)
        return alignment(table_.columns[column].align);
    const auto& row = table_.rows[static_cast<size_t>(index.row())];
    if (column >= row.size())
        return {};
    if (role == Qt::DisplayRole)
        return shown(row[column].text);
    if (role == kJsonPointerRole)
        return QString::fromStdString(row[column].pointer);
    return {};
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
        return {};
    const DocumentColumn& column = table_.columns[static_cast<size_t>(section)];
    if (role == Qt::DisplayRole)
        return shown(column.title);
    if (role == Qt::TextAlignmentRole)
        return alignment(column.align);
    return {};
}

QSize TableModel::span(const QModelIndex& index) const
{
    const bool whole = index.isValid() && index.column() == 0 && columnCount() > 1
        && table_.rows[static_cast<size_t>(index.row())].size() == 1;
    return whole ? QSize(columnCount(), 1) : QSize(1, 1);
}

} // namespace whichlock::gui
