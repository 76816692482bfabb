// SPDX-License-Identifier: GPL-3.0-or-later
// Hands one table of perf report over: a section an event, a row for each line, split by its callers where a
// call graph below it tells them.
#pragma once

#include "parsers/formats/damage_counter.h"
#include "parsers/formats/perf_report_graph.h"
#include "parsers/formats/perf_report_rows.h"

#include <set>
#include <string>
#include <vector>

namespace whichlock::perfreport {

inline constexpr std::string_view kFormatName = "perf-report";

/// What stands above a table.
struct Head {
    Layout layout;
    std::vector<std::string> events; ///< more than one for a group: each row has a percentage for each
    std::string samples;             ///< as printed
    std::string filter;              ///< what the caption says that the view is confined to
    std::string command;             ///< that recorded
};

class TableWriter {
public:
    /// A table whose first row is `line`, from byte `column` on.
    TableWriter(
        const Head& head, const Row& first, const TextLine& line, size_t column, BlockContext& context);

    /// Whether a row behind a blank line belongs to the table: it is sorted, and has no row twice.
    bool goesOnWith(const Row& row) const;
    /// Whether the row begins another table although none ended: it stands higher, and was there before.
    bool repeats(const Row& row) const;
    void add(const Row& row, const TextLine& line);
    /// The call graph below the last row.
    void addGraph(CallGraph graph, const TextLine& line);
    void cutHere(std::string_view mark);
    void repaired(std::string_view how);
    void finish();

private:
    struct Kept {
        std::string comm;
        std::string image;
        std::string symbol;
        std::vector<Share> shares{}; ///< one a section
        std::optional<Share> children{};
        uint64_t line = 0;
    };

    Share ownShare(const Row& row, size_t section) const;
    void flush();
    void emit(
        const Kept& row, size_t section, std::span<const std::string_view> chain, Share share, bool part);
    void splitByGraph(const GraphReading& reading, const CallGraph& graph);
    void emitCallees();
    void factOfAll(FactKind kind, std::string_view value);

    BlockContext& context_;
    std::vector<SectionHandle> sections_;
    size_t firstShare_ = 0; ///< index of the percentage that is a function's own
    bool children_ = false;
    bool sorted_ = true; ///< rows without column names are told apart by what stands in them
    Kept pending_;       ///< the last row, which a graph may follow
    bool hasPending_ = false;
    Share lastFirst_;
    std::set<std::string> keys_;
    std::set<std::string> views_; ///< comm and object of the rows, at most two
    uint64_t rows_ = 0;
    Share sum_;
    CallGraph callees_; ///< the graph of the first row that has its callees below it
    GraphReading calleesReading_;
    Kept calleesRow_;
    size_t calleeGraphs_ = 0;
    TextLine first_;
    DamageCounter unusedGraphs_{DiagnosticCode::GraphNotUsed, 3};
    std::string chain_;
};

} // namespace whichlock::perfreport
