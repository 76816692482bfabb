// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/document.h"
#include "analyzer/report/value_format.h"

#include <algorithm>

namespace whichlock {
namespace {

constexpr size_t kColumns = 78;

/// The most bytes of a word that fit into `width` without cutting a character in two.
size_t fittingPart(std::string_view word, size_t width)
{
    const auto isContinuation = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; };
    size_t length = width;
    while (length > 1 && isContinuation(word[length]))
        --length;
    return length;
}

/// Appends `text` word by word, at most kColumns wide; later lines begin with `hang` blanks. A word that is
/// wider than a line (a path) is broken.
void appendWrapped(std::string& out, std::string_view text, size_t column, size_t hang)
{
    bool lineIsEmpty = true;
    const auto nextLine = [&] {
        while (out.ends_with(' '))
            out.pop_back();
        out += '\n';
        out.append(hang, ' ');
        column = hang;
        lineIsEmpty = true;
    };
    while (!text.empty()) {
        const size_t end = text.find(' ');
        std::string_view word = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        if (!lineIsEmpty && column + 1 + word.size() > kColumns)
            nextLine();
        if (!lineIsEmpty) {
            out += ' ';
            ++column;
        }
        while (column + word.size() > kColumns) {
            const size_t length = fittingPart(word, kColumns - column);
            out += word.substr(0, length);
            word.remove_prefix(length);
            nextLine();
        }
        out += word;
        column += word.size();
        lineIsEmpty = false;
    }
    out += '\n';
}

void renderBlock(const DocumentText& block, std::string& out)
{
    if (block.lines.empty())
        return;
    if (!block.label.empty())
        out += block.label + '\n';
    const size_t indent = block.label.empty() ? block.indent : 2;
    for (const std::string& line : block.lines) {
        out.append(indent, ' ');
        appendWrapped(out, printable(line), indent, block.verdict ? 0 : indent + 2);
    }
    out += '\n';
}

void renderBlock(const DocumentHeading& block, std::string& out)
{
    const std::string text = elideMiddle(printable(block.text), kColumns);
    out += text + '\n' + std::string(text.size(), '-') + '\n';
}

void appendCell(std::string& line, const std::string& text, size_t width, Align align)
{
    const size_t pad = width > text.size() ? width - text.size() : 0;
    if (align == Align::Right)
        line.append(pad, ' ');
    line += text;
    if (align == Align::Left)
        line.append(pad, ' ');
}

constexpr size_t kGap = 2;

/// Widths of the columns as their cells want them. Rows of one cell run over all columns.
std::vector<size_t> naturalWidths(const DocumentTable& table)
{
    std::vector<size_t> widths;
    for (const DocumentColumn& column : table.columns)
        widths.push_back(printable(column.title).size());
    for (const auto& row : table.rows) {
        for (size_t i = 0; i < row.size() && row.size() > 1; ++i)
            widths[i] = std::max(widths[i], printable(row[i].text).size());
    }
    return widths;
}

size_t naturalWidth(const DocumentTable& table)
{
    size_t all = 0;
    for (const size_t width : naturalWidths(table))
        all += width + (all == 0 ? 0 : kGap);
    return all;
}

/// Widths that fit a page: the left-aligned columns give way, the first one first.
std::vector<size_t> columnWidths(const DocumentTable& table)
{
    constexpr size_t kNarrowest = 12;
    std::vector<size_t> widths = naturalWidths(table);
    size_t all = naturalWidth(table);
    for (size_t i = 0; i < widths.size() && all > kColumns; ++i) {
        if (table.columns[i].align != Align::Left || widths[i] <= kNarrowest)
            continue;
        const size_t less = std::min(widths[i] - kNarrowest, all - kColumns);
        widths[i] -= less;
        all -= less;
    }
    return widths;
}

std::string rowLine(
    const std::vector<std::string>& cells, const DocumentTable& table, const std::vector<size_t>& widths)
{
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
        if (i > 0)
            line += "  ";
        appendCell(
            line, elideMiddle(cells[i], std::max<size_t>(widths[i], 5)), widths[i], table.columns[i].align);
    }
    while (!line.empty() && line.back() == ' ')
        line.pop_back();
    return line;
}

/// A table that is wider than a page is printed in parts, each with the first column again.
std::vector<std::vector<size_t>> pagesOf(const std::vector<size_t>& widths)
{
    std::vector<std::vector<size_t>> pages(1, {0});
    size_t column = widths.empty() ? 0 : widths[0];
    for (size_t i = 1; i < widths.size(); ++i) {
        if (column + 2 + widths[i] > kColumns && pages.back().size() > 1) {
            pages.push_back({0});
            column = widths[0];
        }
        pages.back().push_back(i);
        column += 2 + widths[i];
    }
    return pages;
}

/// The table without the columns that are left out at this width.
DocumentTable withoutOptional(const DocumentTable& table, int from)
{
    DocumentTable narrow{.caption = table.caption, .id = table.id, .columns = {}, .rows = {}};
    for (const DocumentColumn& column : table.columns) {
        if (column.optional < from)
            narrow.columns.push_back(column);
    }
    for (const auto& row : table.rows) {
        auto& cells = narrow.rows.emplace_back();
        for (size_t i = 0; i < row.size(); ++i) {
            if (table.columns[i].optional < from)
                cells.push_back(row[i]);
        }
    }
    return narrow;
}

void renderBlock(const DocumentTable& full, std::string& out)
{
    const DocumentTable table = fittedToPage(full);
    if (!table.caption.empty())
        appendWrapped(out, printable(table.caption), 0, 2);
    const std::vector<size_t> widths = columnWidths(table);
    for (const std::vector<size_t>& page : pagesOf(widths)) {
        DocumentTable part;
        std::vector<size_t> partWidths;
        std::vector<std::string> titles;
        for (const size_t i : page) {
            part.columns.push_back(table.columns[i]);
            partWidths.push_back(widths[i]);
            titles.push_back(printable(table.columns[i].title));
        }
        out += rowLine(titles, part, partWidths) + '\n';
        for (const auto& row : table.rows) {
            if (row.size() == 1) {
                out += elideMiddle(printable(row[0].text), kColumns) + '\n';
                continue;
            }
            std::vector<std::string> cells;
            for (const size_t i : page)
                cells.push_back(i < row.size() ? printable(row[i].text) : std::string());
            out += rowLine(cells, part, partWidths) + '\n';
        }
        out += '\n';
    }
}

} // namespace

DocumentTable fittedToPage(const DocumentTable& table)
{
    constexpr int kFirstToGo = 4;
    DocumentTable fit = table;
    for (int from = kFirstToGo; from > 0 && naturalWidth(fit) > kColumns; --from)
        fit = withoutOptional(table, from);
    return fit;
}

std::string renderText(const Document& document)
{
    std::string out;
    for (const DocumentBlock& block : document.blocks)
        std::visit([&](const auto& one) { renderBlock(one, out); }, block);
    while (out.ends_with("\n\n"))
        out.pop_back();
    return out;
}

} // namespace whichlock
