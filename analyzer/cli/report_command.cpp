// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/cli/commands.h"
#include "analyzer/cli/print.h"
#include "analyzer/cli/progress.h"
#include "analyzer/cli/report_inputs.h"
#include "analyzer/report/document.h"
#include "analyzer/report/redact.h"
#include "analyzer/report/value_format.h"
#include "analyzer/session/session.h"

#include <algorithm>

namespace whichlock::cli {
namespace {

std::string render(const Report& report, const Options& options)
{
    switch (options.format) {
    case OutputFormat::Json:
        return renderJson(report);
    case OutputFormat::Markdown:
        return renderMarkdown(buildDocument(report, {.brief = options.brief}));
    case OutputFormat::Text:
    case OutputFormat::Csv: // not of reports
        break;
    }
    return renderText(buildDocument(report, {.brief = options.brief}));
}

int exitCodeOf(const Profile& profile, const Report& report)
{
    if (!report.internalError.empty())
        return kInternalError;
    const auto has = [&](auto predicate) {
        return std::any_of(profile.diagnostics.begin(), profile.diagnostics.end(), predicate);
    };
    const bool failed = std::any_of(
        profile.inputs.begin(), profile.inputs.end(), [](const InputInfo& input) { return input.failed; });
    const bool readAny = std::any_of(
        profile.inputs.begin(), profile.inputs.end(), [](const InputInfo& input) { return !input.failed; });
    if (!readAny) {
        const bool onlyUnknown = !has([](const Diagnostic& one) {
            return one.severity == Severity::Error && one.code != DiagnosticCode::UnknownFormat
                && one.code != DiagnosticCode::KnownButUnread && one.code != DiagnosticCode::NoProfileFound;
        });
        return onlyUnknown ? kUnknownFormat : kUsage;
    }
    const bool lost = has([](const Diagnostic& one) { return one.severity == Severity::DataLoss; });
    return failed || lost ? kDataLoss : kFine;
}

} // namespace

int reportCommand(const Options& options, std::FILE* out, std::FILE* err)
{
    const auto routines = lockTable(options.lockTable);
    if (!routines) {
        print(err, "whichlock: {}: {}\n", printable(toString(routines.error().position)),
            printable(routines.error().message));
        return kUsage;
    }
    OpenedInputs opened = openInputs(options.files);
    Progress progress(err);
    for (const auto& source : opened.sources)
        progress.watch(*source);
    RecordingOptions recording = selectionOf(options.query);
    recording.routines = &*routines;
    recording.step = [&](const std::string& what) { progress.step(what); };
    const Profile profile =
        loadSession(std::move(opened.sources), std::move(opened.errors), options.symbols, recording);
    progress.step("attributing");
    Report report = buildReport(profile, options.query, withKernel(*routines, profile, options.symbols, err));
    progress.finish();
    if (options.redact)
        redact(report);
    const int exitCode = exitCodeOf(profile, report);
    printProblems(report.diagnostics, err);
    if (exitCode == kInternalError)
        print(err, "whichlock: internal error, please report it: {}\n", report.internalError);
    // Without anything that was read there is no report to print, except for programs that parse JSON.
    if ((exitCode == kUsage || exitCode == kUnknownFormat) && options.format != OutputFormat::Json)
        return exitCode;
    const std::string text = render(report, options);
    std::fwrite(text.data(), 1, text.size(), out);
    return exitCode;
}

} // namespace whichlock::cli
