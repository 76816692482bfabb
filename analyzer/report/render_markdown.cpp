// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/document.h"
#include "analyzer/report/value_format.h"

namespace whichlock {
namespace {

/// Text that Markdown or HTML would take for markup.
std::string escaped(std::string_view text)
{
    std::string result;
    for (const char c : printable(text)) {
        switch (c) {
        case '<':
            result += "&lt;";
            break;
        case '>':
            result += "&gt;";
            break;
        case '&':
            result += "&amp;";
            break;
        case '|':
        case '*':
        case '_':
        case '`':
        case '[':
        case ']':
        case '\\':
            result += '\\';
            result += c;
            break;
        default:
            result += c;
        }
    }
    return result;
}

void renderBlock(const DocumentText& block, std::string& out)
{
    if (block.lines.empty())
        return;
    if (!block.label.empty())
        out += "**" + escaped(block.label) + "**\n\n";
    const bool list = block.lines.size() > 1;
    for (const std::string& line : block.lines) {
        const std::string text = escaped(line);
        out += block.verdict ? "**" + text + "**\n" : (list ? "- " : "") + text + '\n';
    }
    out += '\n';
}

void renderBlock(const DocumentHeading& block, std::string& out)
{
    out += "## " + escaped(block.text) + "\n\n";
}

void renderBlock(const DocumentTable& table, std::string& out)
{
    if (!table.caption.empty())
        out += escaped(table.caption) + "\n\n";
    std::string rule = "|";
    out += '|';
    for (const DocumentColumn& column : table.columns) {
        out += ' ' + escaped(column.title) + " |";
        rule += column.align == Align::Right ? " ---: |" : " :--- |";
    }
    out += '\n' + rule + '\n';
    for (const auto& row : table.rows) {
        out += '|';
        for (size_t i = 0; i < table.columns.size(); ++i) {
            std::string text = i < row.size() ? row[i].text : std::string();
            size_t indent = 0;
            while (indent < text.size() && text[indent] == ' ')
                ++indent;
            std::string cell;
            for (size_t k = 0; k < indent; ++k)
                cell += "&nbsp;";
            out += ' ' + cell + escaped(std::string_view(text).substr(indent)) + " |";
        }
        out += '\n';
    }
    out += '\n';
}

} // namespace

std::string renderMarkdown(const Document& document)
{
    std::string out;
    for (const DocumentBlock& block : document.blocks)
        std::visit([&](const auto& one) { renderBlock(one, out); }, block);
    while (out.ends_with("\n\n"))
        out.pop_back();
    return out;
}

} // namespace whichlock
