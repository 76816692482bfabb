// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/redact.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace whichlock {
namespace {

bool isWordEnd(char c)
{
    constexpr std::string_view kEnds = " \t\"'`(),;:<>[]|=";
    return kEnds.find(c) != std::string_view::npos;
}

bool isAlnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool isNameChar(char c)
{
    return isAlnum(c) || c == '_';
}

/// `/a/path`, `~/notes`, `../file`, `file:///x` (the part behind the colon).
bool isPath(std::string_view word)
{
    for (const std::string_view start : {"~/", "./", "../", "//"}) {
        if (word.starts_with(start) && word.size() > start.size())
            return true;
    }
    return word.starts_with('/') && word.find_first_not_of('/') != std::string_view::npos
        && word.find('/', 1) != std::string_view::npos;
}

/// `user@host`, but not the version or the stub of a symbol: `memcpy@GLIBC_2.14`, `malloc@plt`.
bool isAddress(std::string_view word)
{
    const size_t at = word.find('@');
    if (at == 0 || at == std::string_view::npos || at + 1 == word.size())
        return false;
    const std::string_view host = word.substr(at + 1);
    return host != "plt"
        && std::all_of(host.begin(), host.end(), [](char c) { return isAlnum(c) || c == '.' || c == '-'; });
}

class Redactor {
public:
    /// The name of an input: secret as the name of a position, and in text if it looks like a file's name.
    void input(const std::string& name)
    {
        if (!name.empty())
            inputs_.emplace(name, name.find_first_of("./") != std::string::npos);
        token(name, "input");
    }

    /// A host: secret wherever it stands, with and without its domain.
    void host(const std::string& name)
    {
        for (const std::string& text : {name, name.substr(0, name.find('.'))}) {
            if (!text.empty())
                token(text, "host");
        }
    }

    /// The name of a thread or process. Only where such names stand: `main` is a function, too.
    const std::string& comm(const std::string& name)
    {
        const auto [entry, isNew] = comms_.try_emplace(name);
        if (isNew)
            entry->second = fmt::format("comm-{}", comms_.size());
        return entry->second;
    }

    /// Entries of --thread or --process: numbers stay.
    void applyToTasks(std::string& list)
    {
        std::string result;
        for (size_t begin = 0; begin <= list.size();) {
            const size_t end = std::min(list.find(',', begin), list.size());
            const std::string entry = list.substr(begin, end - begin);
            result += begin == 0 ? "" : ",";
            result += entry.find_first_not_of("0123456789") == std::string::npos ? entry : comm(entry);
            begin = end + 1;
        }
        list = std::move(result);
    }

    /// A sentence that may tell of a filter.
    void applyToFilter(std::string& text)
    {
        replaceNames(text, comms_, [](std::string_view, size_t, const std::string&) { return true; });
        apply(text);
    }

    /// The chain of a position: the input and the containers in it.
    void applyToChain(std::string& chain)
    {
        const size_t end = chain.find(" > ");
        if (inputs_.contains(chain.substr(0, end)))
            chain.replace(0, end, token(chain.substr(0, end), "input"));
        else
            apply(chain);
    }

    /// Any word of a command line that has a slash is a path.
    void applyToCommand(std::string& text)
    {
        replaceKnown(text);
        replaceWords(text,
            [](std::string_view word) { return word.find('/') != std::string_view::npos || isPath(word); });
    }

    void apply(std::string& text)
    {
        replaceKnown(text);
        replaceWords(text, isPath);
    }

private:
    /// Whether the text at `at` is `name` as a whole word.
    static bool isWord(std::string_view text, size_t at, const std::string& name)
    {
        if (name.empty() || !text.substr(at).starts_with(name) || (at > 0 && isNameChar(text[at - 1])))
            return false;
        const std::string_view behind = text.substr(at + name.size());
        return behind.empty() || !isNameChar(behind.front()) || !isNameChar(name.back());
    }

    /// If the word is the name of an input, whether that is meant.
    bool isMeant(std::string_view text, size_t at, const std::string& name) const
    {
        const auto input = inputs_.find(name);
        if (input == inputs_.end() || input->second)
            return true;
        const std::string_view behind = text.substr(at + name.size());
        const bool line = behind.size() > 1 && behind[0] == ':' && behind[1] >= '0' && behind[1] <= '9';
        return line || behind.starts_with(", offset ");
    }

    /// Puts the token in place of each name that stands in the text as a whole word and `isMeant` there.
    template <class Names, class IsMeant>
    static void replaceNames(std::string& text, const Names& names, IsMeant isMeant)
    {
        std::string result;
        for (size_t at = 0; at < text.size();) {
            const auto known = std::find_if(names.begin(), names.end(), [&](const auto& entry) {
                return isWord(text, at, entry.first) && isMeant(text, at, entry.first);
            });
            if (known == names.end()) {
                result += text[at++];
                continue;
            }
            result += known->second;
            at += known->first.size();
        }
        text = std::move(result);
    }

    void replaceKnown(std::string& text) const
    {
        replaceNames(text, known_, [this](std::string_view in, size_t at, const std::string& name) {
            return isMeant(in, at, name);
        });
    }

    /// Addresses and paths are secret by their shape.
    template <class IsSecretPath> void replaceWords(std::string& text, IsSecretPath isSecretPath)
    {
        std::string result;
        for (size_t at = 0; at < text.size();) {
            size_t end = at;
            while (end < text.size() && !isWordEnd(text[end]))
                ++end;
            const std::string word = text.substr(at, end - at);
            if (isSecretPath(word))
                result += token(word, "path");
            else if (isAddress(word))
                result += token(word, "user");
            else
                result += word;
            if (end < text.size())
                result += text[end];
            at = end + 1;
        }
        text = std::move(result);
    }

    const std::string& token(const std::string& text, const char* kind)
    {
        const auto [entry, isNew] = known_.try_emplace(text);
        if (isNew)
            entry->second = fmt::format("{}-{}", kind, ++count_[kind]);
        return entry->second;
    }

    // Longest first: a path that begins with another one must not be cut in two.
    struct LongestFirst {
        bool operator()(const std::string& a, const std::string& b) const
        {
            return a.size() != b.size() ? a.size() > b.size() : a < b;
        }
    };
    std::map<std::string, std::string, LongestFirst> known_;
    std::map<std::string, std::string, LongestFirst> comms_; ///< names of threads and processes
    std::map<std::string, bool> inputs_; ///< and whether the name alone is looked for in text
    std::map<std::string, int> count_;
};

void redactSymbols(ReportSection& section, Redactor& redactor)
{
    for (std::vector<ReportSymbol>* list : {&section.idleSymbols, &section.lockSymbols,
             &section.bounceSymbols, &section.artefactSymbols, &section.pauseLoops, &section.topSymbols}) {
        for (ReportSymbol& symbol : *list)
            redactor.apply(symbol.symbol);
    }
    for (AccountLine& line : section.account)
        redactor.apply(line.what);
    for (ReportLock& lock : section.locks) {
        redactor.apply(lock.name);
        for (ReportSite& site : lock.sites)
            redactor.apply(site.name);
    }
    for (Candidate& candidate : section.candidates) {
        redactor.apply(candidate.name);
        for (std::string& reason : candidate.reasons)
            redactor.apply(reason);
    }
}

/// Names of threads are secret; functions and call sites are as elsewhere.
void redactGroups(ReportSection& section, Redactor& redactor)
{
    const bool tasks = section.groupedBy == GroupBy::Thread || section.groupedBy == GroupBy::Comm
        || section.groupedBy == GroupBy::Process;
    for (ReportGroup& group : section.groups) {
        if (!tasks)
            redactor.apply(group.name);
        else if (!group.name.empty())
            group.name = redactor.comm(group.name);
    }
    redactor.applyToFilter(section.filter);
}

/// Threads by their names, files by their paths; names of functions are as elsewhere.
void redactTrace(ReportTrace& trace, Redactor& redactor)
{
    const auto task = [&](std::string& name) {
        if (!name.empty())
            name = redactor.comm(name);
    };
    const auto place = [&](TracedPlace& at) {
        redactor.apply(at.function);
        redactor.apply(at.file);
    };
    for (TracedThreads& threads : trace.facts.threads)
        task(threads.name);
    for (ReportTraceGroup& group : trace.groups) {
        place(group.at);
        task(group.name);
    }
    for (ReportTraceLock& lock : trace.locks) {
        TracedLock& figures = lock.figures;
        if (const std::string file = figures.object.substr(figures.object.rfind('/') + 1); !file.empty()) {
            redactor.apply(figures.object);
            if (const size_t at = lock.basis.find(file); at != std::string::npos)
                lock.basis.replace(at, file.size(), figures.object);
        }
        redactor.apply(lock.name);
        for (ReportTraceSite& site : lock.sites)
            place(site.figures.at);
        for (ReportTraceHolder& holder : lock.holders) {
            place(holder.figures.at);
            task(holder.figures.thread);
            for (NamedTime& one : holder.figures.preemptedBy)
                task(one.name);
        }
        for (TracedHold& hold : figures.holds) {
            place(hold.at);
            task(hold.thread);
        }
        for (TracedLongWait& wait : figures.worst) {
            place(wait.at);
            task(wait.thread);
        }
        for (ReportTraceRoot& root : lock.roots)
            redactor.apply(root.lock);
    }
}

void redactTables(ReportSection& section, Redactor& redactor)
{
    for (ReportTable& table : section.tables) {
        redactor.apply(table.rowName);
        for (std::string& column : table.columns)
            redactor.apply(column);
        for (TableRow& row : table.rows)
            redactor.apply(row.label);
    }
    for (ReportSeries& series : section.series) {
        redactor.apply(series.label);
        redactor.apply(series.xName);
    }
    for (ReportScore& score : section.scores)
        redactor.apply(score.name);
}

/// Locks and sites are as elsewhere; threads are secret, and groups are paths.
void redactLockTable(ReportLockTable& table, Redactor& redactor)
{
    for (ReportTableLock& lock : table.locks) {
        redactor.apply(lock.name);
        for (ReportTableSite& site : lock.sites)
            redactor.apply(site.figures.function);
    }
    for (ReportTableLock& waiter : table.waiters) {
        waiter.name = redactor.comm(waiter.name);
        waiter.figures.name = waiter.name;
    }
}

void redactSection(ReportSection& section, Redactor& redactor)
{
    if (section.lockTable)
        redactLockTable(*section.lockTable, redactor);
    redactor.applyToChain(section.input);
    redactor.applyToChain(section.position.chain);
    redactor.applyToCommand(section.facts.command);
    redactor.applyToCommand(section.facts.workload);
    for (std::string* text : {&section.title, &section.event, &section.facts.host, &section.facts.kernel,
             &section.facts.era, &section.tableAbout})
        redactor.apply(*text);
    for (std::vector<std::string>* texts : {&section.notes, &section.repairs}) {
        for (std::string& text : *texts)
            redactor.apply(text);
    }
    redactSymbols(section, redactor);
    redactGroups(section, redactor);
    if (section.trace)
        redactTrace(*section.trace, redactor);
    redactTables(section, redactor);
}

} // namespace

void redact(Report& report)
{
    Redactor redactor;
    for (const ReportInput& input : report.inputs)
        redactor.input(input.name);
    for (const ReportSection& section : report.sections)
        redactor.host(section.facts.host);
    for (ReportInput& input : report.inputs)
        redactor.applyToChain(input.name);
    for (size_t i = 0; i + 1 < report.arguments.size(); i += 2) {
        if (report.arguments[i] == "--thread" || report.arguments[i] == "--process")
            redactor.applyToTasks(report.arguments[i + 1]);
    }
    redactor.applyToFilter(report.verdict.text);
    for (ReportSection& section : report.sections)
        redactSection(section, redactor);
    for (ReportComparison& comparison : report.comparisons) {
        for (std::string* text : {&comparison.before, &comparison.after, &comparison.about, &comparison.note})
            redactor.apply(*text);
        for (ComparisonRow& row : comparison.rows)
            redactor.apply(row.what);
    }
    for (std::string& next : report.recordNext)
        redactor.applyToCommand(next);
    for (Diagnostic& one : report.diagnostics) {
        redactor.applyToFilter(one.message);
        redactor.applyToChain(one.position.chain);
    }
}

} // namespace whichlock
