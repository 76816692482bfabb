// SPDX-License-Identifier: GPL-3.0-or-later
// The call graph below a row of perf report, as perf prints it (`|--12.34%--f`), as its screen shows it
// (`- 12.34% f`) and folded (`12.34% f;g`); and what may be said with it about the row.
#pragma once

#include "parsers/fixed_point.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock::perfreport {

/// The lines of one graph as a tree.
class CallGraph {
public:
    static constexpr size_t kNone = SIZE_MAX;

    struct Node {
        std::string symbol;
        size_t parent = kNone;
        size_t column = 0; ///< where the node begins; children begin further in
        size_t depth = 0;  ///< number of nodes above it
        size_t children = 0;
        Share share; ///< printed, or of the node above it
        bool printed = false;
        bool folded = false; ///< the screen hides what is below it
    };

    /// Adds a line whose first byte stands in `column`; false if it is no line of a graph.
    bool add(std::string_view line, size_t column);
    bool empty() const { return nodes_.empty(); }
    const std::vector<Node>& nodes() const { return nodes_; }
    /// The indentation makes no sense, or there is more of it than is read.
    bool damaged() const { return damaged_; }

private:
    bool addFolded(std::string_view line);
    void addNode(Node node);

    std::vector<Node> nodes_;
    bool damaged_ = false;
};

/// What the row says that a graph hangs below.
struct GraphRow {
    std::string_view symbol;
    Share self;
    std::optional<Share> children; ///< if the table has that column
};

/// A part of the profile that the graph tells the callers of.
struct GraphPart {
    size_t node = 0; ///< where the graph ends for it
    Share share;
};

struct GraphReading {
    enum class Use : uint8_t {
        Unused,
        Callers, ///< the parts split the row
        Callees, ///< the parts are of the functions that the row's function called
    };

    Use use = Use::Unused;
    bool rowFirst = false;     ///< the row's function is the root, its callers stand below it
    std::string_view whyNot{}; ///< a literal
    std::vector<GraphPart> parts{};
};

/// Takes a graph apart where its percentages are of the whole profile and its direction is sure.
GraphReading readGraph(const CallGraph& graph, const GraphRow& row);
/// The function of a part and what called it, innermost first.
std::vector<std::string_view> chainOf(
    const CallGraph& graph, const GraphReading& reading, const GraphPart& part, std::string_view rowSymbol);

} // namespace whichlock::perfreport
