// SPDX-License-Identifier: GPL-3.0-or-later
// The item models show what stands in the report, figure by figure.
#include "gui/diagnostics_model.h"
#include "gui/report_table_view.h"
#include "gui/table_model.h"
#include "tests/gui/support.h"

#include "analyzer/report/value_format.h"

#include <QSize>

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace whichlock::test {
namespace {

using gui::DiagnosticsModel;
using gui::TableModel;

constexpr const char* kSamples[] = {"readprofile/ia64-512p-flat", "readprofile/textlock-three-profiles",
    "opreport/kretprobe-vmstat", "readprofile/preempt-spin-vmstat-wrapped", "perf-script/two-events"};

Share shareFrom(const nlohmann::json& percent)
{
    return {std::llround(percent.get<double>() * static_cast<double>(Share::kPercent))};
}

FixedPoint numberFrom(const nlohmann::json& value)
{
    return {std::llround(value.get<double>() * static_cast<double>(FixedPoint::kScale))};
}

/// What a figure of the JSON looks like in a cell of that format.
std::string formatted(const nlohmann::json& value, CellFormat format)
{
    switch (format) {
    case CellFormat::Count:
        return formatCount(value.get<uint64_t>());
    case CellFormat::Share1:
        return formatShare(shareFrom(value), 1);
    case CellFormat::Share2:
        return formatShare(shareFrom(value), 2);
    case CellFormat::Number:
        return formatNumber(numberFrom(value));
    case CellFormat::Change:
        return formatChange(numberFrom(value));
    case CellFormat::Points:
        return formatPoints(numberFrom(value));
    case CellFormat::Milliseconds:
        return formatMilliseconds(value.get<uint64_t>());
    case CellFormat::Microseconds:
        return formatMicroseconds(value.get<uint64_t>());
    case CellFormat::Text:
        break;
    }
    return value.get<std::string>();
}

/// Zeros that fill a column up say nothing.
std::string withoutPadding(std::string text)
{
    if (text.find('.') == std::string::npos)
        return text;
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.')
        text.pop_back();
    return text;
}

/// Compares every cell that has a pointer, and returns how many have one.
size_t compareCells(const TableModel& model, const nlohmann::json& json)
{
    size_t compared = 0;
    for (int row = 0; row < model.rowCount(); ++row) {
        for (int column = 0; column < model.columnCount(); ++column) {
            const QModelIndex index = model.index(row, column);
            const std::string pointer = index.data(gui::kJsonPointerRole).toString().toStdString();
            if (pointer.empty())
                continue;
            const auto& cell = model.table().rows[static_cast<size_t>(row)][static_cast<size_t>(column)];
            const nlohmann::json::json_pointer place(pointer);
            if (!json.contains(place)) {
                ADD_FAILURE() << "nothing at " << pointer;
                continue;
            }
            std::string text = index.data().toString().toStdString();
            if (cell.format == CellFormat::Number)
                text = withoutPadding(text);
            EXPECT_EQ(text, formatted(json.at(place), cell.format)) << pointer;
            ++compared;
        }
    }
    return compared;
}

class Models : public testing::TestWithParam<const char*> {
protected:
    Report report_ = reportOf(testdata(GetParam()) + "/input.txt");
    nlohmann::json json_ = nlohmann::json::parse(renderJson(report_));
};

TEST_P(Models, showTheFiguresOfTheJsonReport)
{
    ASSERT_FALSE(report_.sections.empty());
    size_t compared = 0;
    std::vector<DocumentTable> tables = tablesOf(summaryDocument(report_));
    for (size_t i = 0; i < report_.sections.size(); ++i) {
        for (DocumentTable& table : tablesOf(sectionDocument(report_, i)))
            tables.push_back(std::move(table));
    }
    EXPECT_EQ(tables.size(), tablesOf(buildDocument(report_, {})).size()) << "no table may be left out";
    for (const DocumentTable& table : tables) {
        TableModel model(table);
        checkModel(model);
        compared += compareCells(model, json_);
    }
    EXPECT_GT(compared, 10U);
}

TEST_P(Models, showTheDiagnosticsOfTheJsonReport)
{
    DiagnosticsModel model;
    const QAbstractItemModel& view = model;
    model.setDiagnostics(report_.diagnostics);
    checkModel(model);
    const auto& expected = json_.at("diagnostics");
    ASSERT_EQ(static_cast<size_t>(model.rowCount()), expected.size());
    for (int row = 0; row < model.rowCount(); ++row) {
        for (int column = 0; column < model.columnCount(); ++column) {
            const QModelIndex index = view.index(row, column);
            const std::string pointer = index.data(gui::kJsonPointerRole).toString().toStdString();
            if (pointer.empty())
                continue;
            const auto& value = json_.at(nlohmann::json::json_pointer(pointer));
            EXPECT_EQ(index.data().toString().toStdString(),
                value.is_string() ? value.get<std::string>() : formatCount(value.get<uint64_t>()))
                << pointer;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Samples, Models, testing::ValuesIn(kSamples), [](const auto& one) {
    std::string name = one.param;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; },
        '_');
    return name;
});

DocumentTable smallTable()
{
    return {.caption = {},
        .id = "locks",
        .columns = {{"Lock", Align::Left}, {"ticks"}},
        .rows = {{{.text = "files_lock"}, {.text = "42", .format = CellFormat::Count, .pointer = "/a"}},
            {{.text = "  3 more"}}}};
}

TEST(TableModel, alignsCellsAndHeadersAsTheDocumentSays)
{
    TableModel model(smallTable());
    checkModel(model);
    const auto aligned = [](const QVariant& value, Qt::AlignmentFlag side) {
        return (value.toInt() & side) == side;
    };
    EXPECT_TRUE(aligned(model.index(0, 0).data(Qt::TextAlignmentRole), Qt::AlignLeft));
    EXPECT_TRUE(aligned(model.index(0, 1).data(Qt::TextAlignmentRole), Qt::AlignRight));
    EXPECT_TRUE(aligned(model.headerData(1, Qt::Horizontal, Qt::TextAlignmentRole), Qt::AlignRight));
    EXPECT_EQ(model.headerData(1, Qt::Horizontal).toString(), "ticks");
}

TEST(TableModel, spreadsARowOfOneCellOverTheTable)
{
    const TableModel model(smallTable());
    EXPECT_EQ(model.span(model.index(0, 0)), QSize(1, 1));
    EXPECT_EQ(model.span(model.index(1, 0)), QSize(2, 1));
    EXPECT_EQ(model.index(1, 0).data().toString(), "  3 more");
    EXPECT_FALSE(model.index(1, 1).data().isValid());
}

TEST(TableModel, keepsControlCharactersOfAnInputOut)
{
    DocumentTable table = smallTable();
    table.rows[0][0].text = "a\x1b[31mb\xff";
    const TableModel model(table);
    EXPECT_EQ(model.index(0, 0).data().toString(), QString("a?[31mb?"));
}

TEST(ReportTableView, leavesOutOptionalColumnsWhereItIsNarrow)
{
    DocumentTable table{.caption = {},
        .id = "locks",
        .columns = {{"Lock", Align::Left}, {"kind", Align::Left, 2}, {"mean", Align::Right, 1},
            {"named by", Align::Left}},
        .rows = {}};
    table.rows.push_back({{.text = std::string(30, 'n')}, {.text = "spinlock-kind"}, {.text = "123456.789"},
        {.text = "user-symbol"}});
    gui::ReportTableView view;
    view.setTable(table);
    view.show();
    const auto hidden = [&](int width) {
        view.resize(width, 100);
        std::vector<bool> columns;
        for (int i = 0; i < 4; ++i)
            columns.push_back(view.isColumnHidden(i));
        return columns;
    };
    const int all = view.sizeHint().width();
    EXPECT_EQ(hidden(all + 4), (std::vector<bool>{false, false, false, false}));
    EXPECT_EQ(hidden(all - 20), (std::vector<bool>{false, true, false, false}));
    EXPECT_EQ(hidden(50), (std::vector<bool>{false, true, true, false}));
    EXPECT_EQ(hidden(all + 4), (std::vector<bool>{false, false, false, false}));
    EXPECT_EQ(view.sizeHint().width(), all);
}

} // namespace
} // namespace whichlock::test
