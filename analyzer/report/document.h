// SPDX-License-Identifier: GPL-3.0-or-later
// The report as a sequence of paragraphs and tables, before it becomes text or Markdown or a widget. Every
// cell with a figure says where in the JSON the same figure stands.
#pragma once

#include "analyzer/report/report.h"

#include <string>
#include <variant>
#include <vector>

namespace whichlock {

enum class Align : uint8_t { Left, Right };

struct DocumentColumn {
    std::string title;
    Align align = Align::Right;
    int optional = 0; ///< the higher, the sooner it is left out where the page is too narrow; 0 = never
};

/// How the figure of a cell is shown.
enum class CellFormat : uint8_t {
    Text,
    Count,
    Share2,
    Share1,
    Number,
    Change,
    Points,
    Milliseconds,
    Microseconds
};

struct DocumentCell {
    std::string text; ///< as shown
    CellFormat format = CellFormat::Text;
    std::string pointer{}; ///< JSON pointer of the figure; empty for labels
};

struct DocumentTable {
    std::string caption;
    std::string id; ///< stable name: `account`, `locks` ...
    std::vector<DocumentColumn> columns;
    std::vector<std::vector<DocumentCell>> rows;
};

/// Lines that stand for themselves (the head), or a paragraph with a label in front.
struct DocumentText {
    std::string label;              ///< `Sure`, `Left out`, `Next`; may be empty
    std::vector<std::string> lines; ///< each begins on a line of its own
    unsigned indent = 0;
    bool verdict = false; ///< the first paragraph
    bool fixed = false;   ///< characters stand below each other: needs a font of one width
};

struct DocumentHeading {
    std::string text;
};

using DocumentBlock = std::variant<DocumentText, DocumentTable, DocumentHeading>;

struct Document {
    std::vector<DocumentBlock> blocks;
};

struct DocumentOptions {
    bool brief = false; ///< verdict, five locks, next: at most 25 lines
};

/// Lays a report out. Figures are only formatted here, never computed.
Document buildDocument(const Report& report, const DocumentOptions& options);
/// The sections that are shown, in this order. Counted events of an input share one view: that of the first.
std::vector<size_t> shownSections(const Report& report);
/// One section alone: head, tables, candidates, its comparisons; for views that show one at a time.
Document sectionDocument(const Report& report, size_t index);
/// What belongs to no section: the inputs, comparisons across sections, what to record next.
Document summaryDocument(const Report& report);

/// A table without the optional columns that a page of text has no room for.
DocumentTable fittedToPage(const DocumentTable& table);
/// Plain text of at most 78 columns, to be pasted into a bug.
std::string renderText(const Document& document);
std::string renderMarkdown(const Document& document);
/// The JSON contract, schema version 1.
std::string renderJson(const Report& report);

} // namespace whichlock
