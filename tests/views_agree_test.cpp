// SPDX-License-Identifier: GPL-3.0-or-later
// Text, Markdown and JSON of one report say the same, cell by cell: for every sample, and for inputs whose
// names are markup, control characters or wider than a page.
#include "analyzer/report/value_format.h"
#include "tests/support/reported.h"
#include "tests/support/samples.h"
#include "tests/support/view_tables.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>

namespace whichlock::test {
namespace {

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

struct Session {
    std::string name;
    NamedTexts inputs;
    Query query{};
};

void PrintTo(const Session& session, std::ostream* out)
{
    *out << session.name;
}

/// The inputs of each folder of testdata as one session.
std::vector<Session> sampleSessions()
{
    std::vector<Session> sessions;
    std::map<std::string, size_t> byFolder;
    for (const Sample& sample : samples()) {
        const std::string folder = sample.path.substr(0, sample.path.rfind('/'));
        const auto [entry, isNew] = byFolder.try_emplace(folder, sessions.size());
        if (isNew)
            sessions.push_back({sample.name, {}});
        sessions[entry->second].inputs.emplace_back(sample.path, sample.text);
    }
    return sessions;
}

std::string opreportOf(const std::vector<std::string>& symbols)
{
    std::string text = "CPU: P4 / Xeon, speed 2000 MHz (estimated)\n"
                       "Counted GLOBAL_POWER_EVENTS events (time during which processor is not stopped) "
                       "with a unit mask of 0x01 (mandatory) count 100000\n"
                       "samples  %        app name                 symbol name\n";
    for (size_t i = 0; i < symbols.size(); ++i)
        text += std::to_string(900 - i) + "      " + std::to_string(9 - i) + ".0000  vmlinux-2.6.9  "
            + symbols[i] + '\n';
    return text;
}

std::string foldedName(size_t length)
{
    std::string name = "a";
    while (name.size() < length)
        name += "bcdefghij_klmnopq"[name.size() % 17];
    return name;
}

std::vector<Session> hostileSessions()
{
    return {
        {"markup",
            {{"a|b<i>*_`[x](y)&amp;.txt",
                opreportOf(
                    {"operator|(Set<int> const&, Set<int> const&)", "std::vector<int>::operator[](ulong)",
                        "*main_loop*", "a&amp;b", "`ls`", "[link](http://example.org)", "back\\slash"})}}},
        {"control_characters",
            {{"esc\033[31m.txt",
                opreportOf({"red\033[31m", "bell\007",
                    "c1\xc2\x9b"
                    "31m",
                    "del\x7f", "plain"})}}},
        {"names_wider_than_a_page",
            {{foldedName(200) + ".txt",
                opreportOf({foldedName(300), foldedName(79), "_spin_lock", "short"})}}},
    };
}

/// A recording with threads, asked in every way.
std::vector<Session> questions()
{
    std::string script;
    for (int i = 0; i < 60; ++i) {
        const bool spins = i % 3 != 0;
        script += "thread|" + std::to_string(i % 23) + " 100/" + std::to_string(100 + i % 23) + " [00"
            + std::to_string(i % 2) + "] 1000.0" + std::to_string(10 + i) + "000: 250000 cpu-clock:\n"
            + (spins ? "\tffffffff81001010 native_queued_spin_lock_slowpath+0x10 ([kernel.kallsyms])\n" : "")
            + "\tffffffff81003031 dput+0x31 ([kernel.kallsyms])\n\n";
    }
    std::vector<Session> sessions;
    for (const char* by : {"site", "thread", "comm", "process", "cpu", "symbol"}) {
        const auto query = parseQuery(
            {.by = by, .time = "0-0.05", .threads = {"thread|1,103,104"}, .focus = "dput|<none> 'x'"});
        sessions.push_back({by, {{"script.txt", script}}, *parseQuery({.by = by})});
        sessions.push_back({std::string(by) + "_filtered", {{"script.txt", script}}, *query});
    }
    return sessions;
}

class Views : public testing::TestWithParam<Session> { };

std::string nameOfSession(const testing::TestParamInfo<Session>& info)
{
    return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Samples, Views, testing::ValuesIn(sampleSessions()), nameOfSession);
INSTANTIATE_TEST_SUITE_P(Questions, Views, testing::ValuesIn(questions()), nameOfSession);
INSTANTIATE_TEST_SUITE_P(Hostile, Views, testing::ValuesIn(hostileSessions()), nameOfSession);

/// The figure in the JSON as the cell's format shows it, by the one formatter that all views use.
std::string formatted(const DocumentCell& cell, const Json& figure)
{
    const auto share = [&] { return Share{std::llround(figure.get<double>() * Share::kPercent)}; };
    const auto number = [&] { return FixedPoint{std::llround(figure.get<double>() * FixedPoint::kScale)}; };
    switch (cell.format) {
    case CellFormat::Count:
        return formatCount(figure.get<uint64_t>());
    case CellFormat::Share2:
        return formatShare(share(), 2);
    case CellFormat::Share1:
        return formatShare(share(), 1);
    case CellFormat::Change:
        return formatChange(number());
    case CellFormat::Points:
        return formatPoints(number());
    case CellFormat::Number: {
        const size_t point = cell.text.find('.');
        return formatDecimal(
            number(), point == std::string::npos ? 0 : static_cast<int>(cell.text.size() - point - 1));
    }
    case CellFormat::Milliseconds:
        return formatMilliseconds(figure.get<uint64_t>());
    case CellFormat::Microseconds:
        return formatMicroseconds(figure.get<uint64_t>());
    case CellFormat::Text:
        break;
    }
    return "a label has no figure";
}

/// How many of the JSON's units the unit of a cell is: times are ns there.
double shownIn(CellFormat format)
{
    return format == CellFormat::Milliseconds ? 1e6 : format == CellFormat::Microseconds ? 1e3 : 1;
}

/// Without any formatter: the text, read as a number, is the figure to within half of its last digit.
bool isRoundingOf(const std::string& text, double figure)
{
    if (text.starts_with('<'))
        return figure > 0 && figure < std::stod(text.substr(1));
    size_t length = 0;
    const double shown = std::stod(text, &length);
    const size_t point = text.find('.');
    const auto decimals = point == std::string::npos ? 0.0 : static_cast<double>(length - point - 1);
    return std::abs(shown - figure) <= 0.5 * std::pow(10, -decimals) + 1e-9 * std::abs(figure);
}

template <class Block> std::vector<Block> blocksOf(const Document& document)
{
    std::vector<Block> blocks;
    for (const DocumentBlock& block : document.blocks) {
        if (const auto* one = std::get_if<Block>(&block))
            blocks.push_back(*one);
    }
    return blocks;
}

std::vector<std::string> shownCells(const std::vector<DocumentCell>& row, size_t columns)
{
    std::vector<std::string> cells(columns);
    for (size_t i = 0; i < row.size(); ++i)
        cells[i] = printable(row[i].text);
    return cells;
}

TEST_P(Views, cellsShowTheFiguresThatStandInTheJson)
{
    const Reported reported = reportOfTexts(GetParam().inputs, GetParam().query);
    size_t figures = 0;
    for (const DocumentTable& table : blocksOf<DocumentTable>(buildDocument(reported.report, {}))) {
        for (const auto& row : table.rows) {
            for (const DocumentCell& cell : row) {
                EXPECT_EQ(cell.pointer.empty(), cell.format == CellFormat::Text) << cell.text;
                if (cell.pointer.empty())
                    continue;
                const nlohmann::json::json_pointer pointer(cell.pointer);
                ASSERT_TRUE(reported.json.contains(pointer)) << cell.pointer << ' ' << cell.text;
                const Json& figure = reported.json.at(pointer);
                ASSERT_TRUE(figure.is_number()) << cell.pointer;
                EXPECT_EQ(cell.text, formatted(cell, figure)) << cell.pointer << ' ' << figure;
                EXPECT_TRUE(isRoundingOf(cell.text, figure.get<double>() / shownIn(cell.format)))
                    << cell.text << ' ' << figure;
                ++figures;
            }
        }
    }
    EXPECT_GT(figures, 0U);
}

TEST_P(Views, markdownTablesHaveTheCellsOfTheDocument)
{
    const Reported reported = reportOfTexts(GetParam().inputs, GetParam().query);
    const auto tables = blocksOf<DocumentTable>(buildDocument(reported.report, {}));
    const auto shown = markdownTables(reported.markdown);
    ASSERT_EQ(shown.size(), tables.size());
    for (size_t t = 0; t < tables.size(); ++t) {
        const size_t columns = tables[t].columns.size();
        ASSERT_EQ(shown[t].size(), tables[t].rows.size() + 1) << tables[t].id;
        std::vector<std::string> titles;
        for (const DocumentColumn& column : tables[t].columns)
            titles.push_back(printable(column.title));
        EXPECT_EQ(shown[t][0], titles);
        for (size_t r = 0; r < tables[t].rows.size(); ++r)
            EXPECT_EQ(shown[t][r + 1], shownCells(tables[t].rows[r], columns)) << tables[t].id << ' ' << r;
    }
}

TEST_P(Views, textTablesHaveTheCellsOfTheDocumentInOrder)
{
    const Reported reported = reportOfTexts(GetParam().inputs, GetParam().query);
    TextTableReader reader(reported.text);
    for (const DocumentTable& full : blocksOf<DocumentTable>(buildDocument(reported.report, {}))) {
        const DocumentTable table = fittedToPage(full);
        const auto needed = std::count_if(full.columns.begin(), full.columns.end(),
            [](const DocumentColumn& column) { return column.optional == 0; });
        EXPECT_GE(table.columns.size(), static_cast<size_t>(needed));
        std::vector<std::vector<std::string>> rows(1);
        for (const DocumentColumn& column : table.columns)
            rows[0].push_back(printable(column.title));
        for (const auto& row : table.rows) {
            rows.emplace_back();
            for (const DocumentCell& cell : row)
                rows.back().push_back(printable(cell.text));
        }
        EXPECT_EQ(reader.take(rows), "") << "table " << table.id;
    }
}

TEST_P(Views, sentencesStandInTextAndMarkdown)
{
    const Reported reported = reportOfTexts(GetParam().inputs, GetParam().query);
    const std::string text = withoutBlanks(reported.text);
    const std::string markdown = withoutBlanks(unescapedMarkdown(reported.markdown));
    for (const DocumentText& block : blocksOf<DocumentText>(buildDocument(reported.report, {}))) {
        for (const std::string& line : block.lines) {
            EXPECT_NE(text.find(withoutBlanks(printable(line))), std::string::npos) << line;
            EXPECT_NE(markdown.find(withoutBlanks(printable(line))), std::string::npos) << line;
        }
    }
}

TEST_P(Views, textFitsAPageAndIsAsciiIfTheInputIs)
{
    const Reported reported = reportOfTexts(GetParam().inputs, GetParam().query);
    bool asciiInput = true;
    for (const auto& [name, input] : GetParam().inputs)
        asciiInput = asciiInput && isAscii(name) && isAscii(input);
    for (const std::string& view : {reported.text, reported.brief}) {
        for (const std::string& line : linesOf(view)) {
            EXPECT_LE(line.size(), 78U) << line;
            EXPECT_FALSE(line.ends_with(' ')) << line;
            EXPECT_TRUE(std::none_of(line.begin(), line.end(), [](char c) {
                return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
            })) << line;
            EXPECT_TRUE(!asciiInput || isAscii(line)) << line;
        }
    }
    EXPECT_LE(linesOf(reported.brief).size(), 25U) << reported.brief;
}

TEST_P(Views, areTheSameBytesEachTime)
{
    const Reported first = reportOfTexts(GetParam().inputs, GetParam().query);
    const Reported second = reportOfTexts(GetParam().inputs, GetParam().query);
    EXPECT_EQ(first.text, second.text);
    EXPECT_EQ(first.markdown, second.markdown);
    EXPECT_EQ(renderJson(first.report), renderJson(second.report));
    EXPECT_EQ(first.profile.canonicalBytes(), second.profile.canonicalBytes());
}

TEST(ViewTables, readerSeesAWrongCell)
{
    const std::string text = "Lock       ticks  of all\n_spin_lock    12  1.00 %\n";
    EXPECT_EQ(TextTableReader(text).take({{"Lock", "ticks", "of all"}, {"_spin_lock", "12", "1.00 %"}}), "");
    EXPECT_NE(TextTableReader(text).take({{"Lock", "ticks", "of all"}, {"_spin_lock", "2", "1.00 %"}}), "");
    EXPECT_NE(TextTableReader(text).take({{"Lock", "ticks"}, {"_spin_lock", "12"}, {"more", "1"}}), "");
    const std::string elided = "Lock       ticks\n_spi..ock     12\n";
    EXPECT_EQ(TextTableReader(elided).take({{"Lock", "ticks"}, {"_spin_unlock", "12"}}), "");
    EXPECT_NE(TextTableReader(elided).take({{"Lock", "ticks"}, {"_spin_wait", "12"}}), "");
}

} // namespace
} // namespace whichlock::test
