// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/cli/report_inputs.h"

#include "analyzer/cli/print.h"
#include "analyzer/report/value_format.h"

namespace whichlock::cli {

Result<RoutineTable> lockTable(const std::string& path)
{
    if (path.empty())
        return RoutineTable::builtIn();
    auto source = Source::openFile(path);
    if (!source)
        return tl::make_unexpected(source.error());
    std::string text;
    std::string piece(Source::kHeadBytes, '\0');
    for (;;) {
        const auto got = (*source)->read(piece);
        if (!got)
            return tl::make_unexpected(got.error());
        if (*got == 0)
            break;
        text.append(piece, 0, *got);
    }
    return RoutineTable::builtIn().withUserFile(path, text);
}

void printProblems(const std::vector<Diagnostic>& diagnostics, std::FILE* err)
{
    for (const Diagnostic& one : diagnostics) {
        if (one.severity != Severity::Error && one.severity != Severity::DataLoss)
            continue;
        const std::string_view advice = codeAdvice(one.code);
        print(err, "whichlock: {}{}{}\n", printable(sentenceOf(one)), advice.empty() ? "" : "; ", advice);
    }
}

} // namespace whichlock::cli
