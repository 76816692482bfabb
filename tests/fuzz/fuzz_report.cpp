// SPDX-License-Identifier: GPL-3.0-or-later
// Everything behind the readers: whatever is read becomes a report that adds up, and every view of it can be
// written.
#include "analyzer/report/document.h"
#include "analyzer/report/redact.h"
#include "analyzer/session/session.h"

#include <cstdint>
#include <cstdlib>

namespace {

std::vector<std::unique_ptr<whichlock::Source>> sourceOf(std::string_view text)
{
    std::vector<std::unique_ptr<whichlock::Source>> sources;
    sources.push_back(whichlock::Source::fromMemory("input", text));
    return sources;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    using namespace whichlock;
    const Profile profile = loadSession(sourceOf({reinterpret_cast<const char*>(data), size}));
    Report report = buildReport(profile, {}, RoutineTable::builtIn());
    if (!report.internalError.empty())
        std::abort(); // the way in which a fuzzer is told
    redact(report);
    const Document document = buildDocument(report, {});
    if (renderText(document).empty() || renderMarkdown(document).empty() || renderJson(report).empty())
        std::abort();
    return 0;
}
