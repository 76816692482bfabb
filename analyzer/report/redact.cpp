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

class Redactor {
public:
    /// A text that is secret wherever it stands.
    void secret(const std::string& text, const char* kind)
    {
        if (!text.empty())
            token(text, kind);
    }

    void apply(std::string& text)
    {
        for (const auto& [from, to] : known_) {
            for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
                text.replace(at, from.size(), to);
        }
        replaceWords(text);
    }

private:
    /// `user@host` and `/a/path` are secret by their shape.
    void replaceWords(std::string& text)
    {
        std::string result;
        for (size_t at = 0; at < text.size();) {
            size_t end = at;
            while (end < text.size() && !isWordEnd(text[end]))
                ++end;
            const std::string word = text.substr(at, end - at);
            const bool path = word.size() > 1 && word[0] == '/'
                && word.find_first_not_of('/') != std::string::npos && word.find('/', 1) != std::string::npos;
            if (path)
                result += token(word, "path");
            else if (word.size() > 2 && word.find('@') != std::string::npos
                && word.find("@@") == std::string::npos)
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
    std::map<std::string, int> count_;
};

} // namespace

void redact(Report& report)
{
    Redactor redactor;
    for (const ReportInput& input : report.inputs)
        redactor.secret(input.name, "input");
    for (const ReportSection& section : report.sections)
        redactor.secret(section.facts.host, "host");
    const auto apply = [&](std::string& text) { redactor.apply(text); };
    for (ReportInput& input : report.inputs)
        apply(input.name);
    apply(report.verdict.text);
    for (ReportSection& section : report.sections) {
        for (std::string* text : {&section.title, &section.input, &section.position.chain,
                 &section.facts.host, &section.facts.command, &section.tableAbout, &section.gain})
            apply(*text);
        for (std::string& note : section.notes)
            apply(note);
        for (Candidate& candidate : section.candidates) {
            for (std::string& reason : candidate.reasons)
                apply(reason);
        }
        for (std::vector<ReportSymbol>* list : {&section.idleSymbols, &section.lockSymbols,
                 &section.bounceSymbols, &section.artefactSymbols, &section.topSymbols}) {
            for (ReportSymbol& symbol : *list)
                apply(symbol.symbol);
        }
    }
    for (ReportComparison& comparison : report.comparisons) {
        for (std::string* text : {&comparison.before, &comparison.after, &comparison.about, &comparison.note})
            apply(*text);
        for (ComparisonRow& row : comparison.rows)
            apply(row.what);
    }
    for (Diagnostic& one : report.diagnostics) {
        apply(one.message);
        apply(one.position.chain);
    }
}

} // namespace whichlock
