// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/perf_report_graph.h"

#include "parsers/formats/perf_report_rows.h"
#include "parsers/input/text_scan.h"

#include <algorithm>
#include <array>

namespace whichlock::perfreport {
namespace {

constexpr size_t kMostNodes = 100'000;
constexpr size_t kDeepest = 160; ///< perf records 127 frames unless the kernel is told otherwise

/// Printed percentages are rounded to the second digit.
constexpr Share kLastDigit{Share::kPercent / 100};
constexpr std::string_view kHidden = "[...]"; ///< what perf prints for all branches below its limit

bool within(Share part, Share whole, size_t summands)
{
    const auto digits = static_cast<int64_t>(std::min<size_t>(summands + 1, 1000));
    return part.ppb <= whole.ppb + digits * kLastDigit.ppb;
}

/// A line without a percentage in a graph is a symbol alone; a sentence is none.
bool mayBeSymbol(std::string_view text)
{
    return !text.empty()
        && (text.find(' ') == std::string_view::npos || text.find('(') != std::string_view::npos
            || text.find("::") != std::string_view::npos || text.find('<') != std::string_view::npos);
}

std::string_view withoutInlined(std::string_view symbol)
{
    constexpr std::string_view kInlined = " (inlined)";
    return symbol.ends_with(kInlined) ? symbol.substr(0, symbol.size() - kInlined.size()) : symbol;
}

/// Column of the first byte behind the blanks and bars, which are taken off `text`.
size_t takeIndent(std::string_view& text, size_t column, bool& bars)
{
    constexpr size_t kTab = 8;
    while (!text.empty() && (isBlank(text.front()) || text.front() == '|')) {
        bars = bars || text.front() == '|';
        column = text.front() == '\t' ? (column / kTab + 1) * kTab : column + 1;
        text.remove_prefix(1);
    }
    return column;
}

/// `--12.34%--f`, `--12.34%-- f`, `---f`.
bool takeDashes(std::string_view& text, CallGraph::Node& node)
{
    if (!text.starts_with("--"))
        return false;
    std::string_view rest = text.substr(2);
    if (rest.starts_with('-')) {
        text = trimmed(rest.substr(1));
        return true;
    }
    const size_t end = rest.find("%--");
    if (end == std::string_view::npos)
        return false;
    std::string_view percent = rest.substr(0, end + 1);
    const auto share = takePercent(percent);
    if (!share)
        return false;
    node.share = *share;
    node.printed = true;
    text = trimmed(rest.substr(end + 3));
    return true;
}

} // namespace

bool CallGraph::add(std::string_view line, size_t column)
{
    if (line.size() > kLongestRow)
        return false;
    std::string_view text = withoutGlyphs(line);
    if (!text.empty() && isDigit(text.front()))
        return addFolded(text);
    Node node;
    bool bars = false;
    node.column = takeIndent(text, column, bars);
    if (text.empty())
        return bars;
    const bool indented = node.column > column || column > 0;
    if (!takeDashes(text, node)) {
        const bool marked = text.size() > 2 && (text[0] == '+' || text[0] == '-') && isBlank(text[1]);
        if (marked) {
            node.folded = text[0] == '+';
            text.remove_prefix(2);
            node.column += 2;
        }
        if (const auto share = takePercent(text)) {
            node.share = *share;
            node.printed = true;
        }
        text = trimmed(text);
        // Without a percentage only the indentation tells: it goes on with the node above it.
        if (!node.printed && !marked && !bars && (nodes_.empty() || node.column < nodes_.back().column))
            return false;
        if (!indented)
            return false;
    }
    text = withoutInlined(text);
    constexpr size_t kDeep = 8; // no sentence is indented like this
    if (!mayBeSymbol(text) && (text.empty() || nodes_.empty() || node.column < kDeep))
        return false;
    node.symbol = text;
    addNode(std::move(node));
    return true;
}

/// `12.34% f;g;h` at the beginning of the line.
bool CallGraph::addFolded(std::string_view line)
{
    std::string_view rest = line;
    const auto share = takePercent(rest);
    rest = trimmed(rest);
    if (!share || !mayBeSymbol(rest) || (!nodes_.empty() && nodes_.front().column != 0))
        return false;
    for (size_t depth = 0; !rest.empty() && !damaged_; ++depth) {
        const size_t end = std::min(rest.find(';'), rest.size());
        Node node;
        node.symbol = rest.substr(0, end);
        node.column = depth;
        node.share = *share;
        node.printed = true;
        addNode(std::move(node));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return true;
}

void CallGraph::addNode(Node node)
{
    if (nodes_.size() == kMostNodes) {
        damaged_ = true;
        return;
    }
    size_t above = nodes_.empty() ? kNone : nodes_.size() - 1;
    if (node.printed) {
        while (above != kNone && nodes_[above].column >= node.column)
            above = nodes_[above].parent;
    } else if (above != kNone && nodes_[above].column > node.column) {
        damaged_ = true; // one of several branches always has a percentage
    }
    node.parent = above;
    if (above != kNone) {
        node.depth = nodes_[above].depth + 1;
        ++nodes_[above].children;
        if (!node.printed)
            node.share = nodes_[above].share;
    }
    damaged_ = damaged_ || node.depth > kDeepest;
    nodes_.push_back(std::move(node));
}

// --- what it says
// ---------------------------------------------------------------------------------------------

namespace {

/// Where threads, system calls and processors begin: nothing in a profile calls these.
bool isOutermost(std::string_view symbol)
{
    constexpr std::array<std::string_view, 14> kNames = {"main", "_start", "clone", "__clone", "clone3",
        "start_thread", "kthread", "start_secondary", "secondary_startup_64", "cpu_startup_entry",
        "do_syscall_64", "system_call_fastpath", "rest_init", "start_kernel"};
    return std::find(kNames.begin(), kNames.end(), symbol) != kNames.end()
        || symbol.starts_with("entry_SYSCALL") || symbol.starts_with("ret_from_fork")
        || symbol.starts_with("__libc_start") || symbol.starts_with("x86_64_start_");
}

class GraphReader {
public:
    GraphReader(const CallGraph& graph, const GraphRow& row)
        : nodes_(graph.nodes())
        , row_(row)
        , damaged_(graph.damaged())
    {
        shares_.reserve(nodes_.size());
        below_.resize(nodes_.size());
    }

    GraphReading read()
    {
        if (damaged_)
            return unused("its indentation is broken");
        settleShares();
        if (!isAbsolute())
            return unused("its percentages may be of the branch above and not of the whole");
        if (!rootsAreRow())
            return splitFromOutside();
        const bool leafRow = !row_.children || row_.children->ppb <= row_.self.ppb + 2 * kLastDigit.ppb;
        if (leafRow)
            return splitByCallers();
        if (endsOutside())
            return unused("it has the callers of the function and of all that it calls");
        return callees();
    }

private:
    static GraphReading unused(std::string_view why) { return {.whyNot = why}; }

    /// A root without a percentage has that of the row.
    void settleShares()
    {
        const Share whole = row_.children.value_or(row_.self);
        for (const CallGraph::Node& node : nodes_) {
            const bool root = node.parent == CallGraph::kNone;
            shares_.push_back(node.printed ? node.share : root ? whole : shares_[node.parent]);
            if (root)
                rootSum_ = saturatedSum(rootSum_, shares_.back());
            else
                below_[node.parent] = saturatedSum(below_[node.parent], shares_.back());
            roots_ += root ? 1 : 0;
        }
    }

    bool isAbsolute() const
    {
        const Share whole = row_.children.value_or(row_.self);
        if (!within(rootSum_, whole, roots_))
            return false;
        for (size_t i = 0; i < nodes_.size(); ++i) {
            if (!within(below_[i], shares_[i], nodes_[i].children))
                return false;
        }
        return true;
    }

    bool rootsAreRow() const
    {
        return std::all_of(nodes_.begin(), nodes_.end(), [&](const CallGraph::Node& node) {
            return node.parent != CallGraph::kNone || node.symbol == row_.symbol;
        });
    }

    bool isLeaf(size_t i) const { return nodes_[i].children == 0; }

    bool endsOutside() const
    {
        for (size_t i = 0; i < nodes_.size(); ++i) {
            if (isLeaf(i) && nodes_[i].depth > 0 && isOutermost(nodes_[i].symbol))
                return true;
        }
        return false;
    }

    /// The row's function stands first, its callers below it.
    GraphReading splitByCallers() const
    {
        GraphReading reading{.use = GraphReading::Use::Callers, .rowFirst = true};
        for (size_t i = 0; i < nodes_.size(); ++i) {
            // What is left of a branch has callers that were too small to be printed.
            const Share rest{shares_[i].ppb - std::min(shares_[i].ppb, below_[i].ppb)};
            if (rest.ppb == 0 || nodes_[i].depth == 0 || nodes_[i].symbol == kHidden)
                continue;
            reading.parts.push_back({i, rest});
        }
        return reading;
    }

    /// The outermost function stands first, the row's function last, or the graph was cut above it.
    GraphReading splitFromOutside() const
    {
        if (!within(rootSum_, row_.self, roots_))
            return unused("it has more than the function's own time");
        GraphReading reading{.use = GraphReading::Use::Callers};
        for (size_t i = 0; i < nodes_.size(); ++i) {
            if (!isLeaf(i) || nodes_[i].folded || nodes_[i].symbol == kHidden)
                continue;
            if (nodes_[i].symbol != row_.symbol && !beginsOutside(i))
                return unused("nothing tells whether it has the callers first or last");
            reading.parts.push_back({i, shares_[i]});
        }
        return reading;
    }

    bool beginsOutside(size_t i) const
    {
        size_t second = CallGraph::kNone;
        for (; nodes_[i].parent != CallGraph::kNone; i = nodes_[i].parent)
            second = i;
        // Broken unwinding leaves a number in front of the outermost function.
        return isOutermost(nodes_[i].symbol)
            || (nodes_[i].symbol.starts_with("0x") && second != CallGraph::kNone
                && isOutermost(nodes_[second].symbol));
    }

    /// What the row's function called: the innermost functions with all that called them.
    GraphReading callees() const
    {
        GraphReading reading{.use = GraphReading::Use::Callees};
        for (size_t i = 0; i < nodes_.size(); ++i) {
            if (!isLeaf(i) || nodes_[i].folded || nodes_[i].depth == 0 || nodes_[i].symbol == kHidden)
                continue;
            reading.parts.push_back({i, shares_[i]});
        }
        return reading;
    }

    const std::vector<CallGraph::Node>& nodes_;
    const GraphRow& row_;
    bool damaged_;
    std::vector<Share> shares_;
    std::vector<Share> below_; ///< sum of the branches below each node
    Share rootSum_;
    size_t roots_ = 0;
};

} // namespace

GraphReading readGraph(const CallGraph& graph, const GraphRow& row)
{
    return GraphReader(graph, row).read();
}

std::vector<std::string_view> chainOf(
    const CallGraph& graph, const GraphReading& reading, const GraphPart& part, std::string_view rowSymbol)
{
    std::vector<std::string_view> chain;
    for (size_t i = part.node; i != CallGraph::kNone; i = graph.nodes()[i].parent)
        chain.push_back(graph.nodes()[i].symbol);
    if (reading.rowFirst)
        std::reverse(chain.begin(), chain.end());
    else if (reading.use == GraphReading::Use::Callers && chain.front() != rowSymbol)
        chain.insert(chain.begin(), rowSymbol);
    return chain;
}

} // namespace whichlock::perfreport
