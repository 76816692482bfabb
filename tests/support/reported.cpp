// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/reported.h"

#include "analyzer/session/session.h"

namespace whichlock::test {
namespace {

Reported reportOf(Profile profile, const Query& query = {})
{
    Reported result;
    result.profile = std::move(profile);
    result.report = buildReport(result.profile, query, RoutineTable::builtIn());
    result.json = Json::parse(renderJson(result.report));
    const Document document = buildDocument(result.report, {});
    result.text = renderText(document);
    result.markdown = renderMarkdown(document);
    result.brief = renderText(buildDocument(result.report, {.brief = true}));
    return result;
}

} // namespace

std::string Reported::flatText() const
{
    std::string flat;
    for (const char c : text) {
        const bool blank = c == ' ' || c == '\n';
        if (!blank)
            flat += c;
        else if (!flat.empty() && flat.back() != ' ')
            flat += ' ';
    }
    return flat;
}

std::vector<Json> Reported::sections(std::string_view kind) const
{
    std::vector<Json> found;
    for (const Json& section : json.at("sections")) {
        if (section.at("kind") == kind)
            found.push_back(section);
    }
    return found;
}

std::vector<Json> Reported::lockRows() const
{
    std::vector<Json> rows;
    for (const Json& section : json.at("sections")) {
        for (const Json& lock : section.value("locks", Json::array()))
            rows.push_back(lock);
    }
    return rows;
}

Reported reportOfSample(const std::vector<std::string>& paths)
{
    std::vector<std::string> files;
    for (const std::string& path : paths)
        files.push_back(std::string(WHICHLOCK_TESTDATA) + '/' + path);
    OpenedInputs opened = openInputs(files);
    return reportOf(loadSession(std::move(opened.sources), std::move(opened.errors)));
}

Reported reportOfTexts(const std::vector<std::pair<std::string, std::string>>& namedTexts, const Query& query)
{
    std::vector<std::unique_ptr<Source>> sources;
    for (const auto& [name, text] : namedTexts)
        sources.push_back(Source::fromMemory(name, text));
    return reportOf(loadSession(std::move(sources), {}, {}, selectionOf(query)), query);
}

} // namespace whichlock::test
