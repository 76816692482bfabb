// SPDX-License-Identifier: GPL-3.0-or-later
// Which locks a question is about.
#include "analyzer/report/section_builders.h"

#include <fmt/format.h>

namespace whichlock {
namespace {

constexpr size_t kMostNames = 8;

bool isAsked(const std::string& asked, const std::string& name, uint32_t id)
{
    return name.find(asked) != std::string::npos || asked == std::to_string(id);
}

/// Says which names there are, so that the next question finds one.
Diagnostic notFound(const std::string& asked, const std::vector<std::string>& names)
{
    std::string known = names.empty() ? "no lock is waited for" : "there are ";
    for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i)
        known += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kMostNames)
        known += fmt::format(" and {} more", names.size() - kMostNames);
    return makeDiagnostic(
        DiagnosticCode::LockNotFound, fmt::format("no lock is called {}: {}", asked, known), {});
}

} // namespace

void selectLocks(const Query& query, Report& report)
{
    if (query.lock.empty())
        return;
    bool found = false;
    std::vector<std::string> names;
    for (ReportSection& section : report.sections) {
        for (ReportLock& lock : section.locks) {
            lock.selected = isAsked(query.lock, lock.name, lock.id);
            found = found || lock.selected;
            names.push_back(lock.name);
        }
        if (!section.trace)
            continue;
        for (ReportTraceLock& lock : section.trace->locks) {
            lock.selected = isAsked(query.lock, lock.name, lock.id)
                || query.lock == fmt::format("{:#x}", lock.figures.address);
            found = found || lock.selected;
            names.push_back(lock.name);
        }
    }
    if (!found)
        report.diagnostics.push_back(notFound(query.lock, names));
}

} // namespace whichlock
