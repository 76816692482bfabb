// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/cli/commands.h"
#include "analyzer/cli/elf_module.h"
#include "analyzer/cli/print.h"
#include "analyzer/cli/report_inputs.h"
#include "analyzer/report/value_format.h"

#include <nlohmann/json.hpp>

namespace whichlock::cli {
namespace {

std::string_view sideName(const LockIndexRow& row)
{
    const std::string_view kind = lockKindName(row.kind);
    const bool hasSides = kind == "rwlock" || kind.ends_with("rwsem");
    if (!hasSides && row.side == LockSide::Exclusive)
        return "-";
    return row.side == LockSide::Shared ? "read" : "write";
}

std::string_view rungOf(const LockIndexRow& row)
{
    if (row.lock.empty())
        return "unnamed";
    if (row.source == NameSource::Symbol)
        return "symbol";
    return row.btf ? "type (BTF)" : "type";
}

std::string chainText(const LockIndexRow& row)
{
    std::string text = row.function;
    for (auto one = row.inlined.rbegin(); one != row.inlined.rend(); ++one)
        text += " > " + *one;
    return text;
}

std::string csvCell(std::string_view text)
{
    // A cell that begins like a formula is run by spreadsheets.
    std::string cell = text.find_first_of("=+-@") == 0 ? "'" : "";
    if (text.find_first_of(",\"\n\r") == std::string_view::npos)
        return cell += text;
    cell.insert(0, 1, '"');
    for (const char c : text)
        cell += c == '"' ? std::string("\"\"") : std::string(1, c);
    return cell += '"';
}

void printCsv(const std::vector<LockIndexRow>& rows, std::FILE* out)
{
    print(out, "address,function,chain,routine,kind,side,lock,expression,rung,inferred,try,tail\n");
    for (const LockIndexRow& row : rows)
        print(out, "{:#x},{},{},{},{},{},{},{},{},{},{},{}\n", row.callSite, csvCell(row.function),
            csvCell(chainText(row)), row.routine, lockKindName(row.kind), sideName(row), csvCell(row.lock),
            csvCell(row.expression), rungOf(row), row.inferred, row.tries, row.tail);
}

void printJson(const LockIndex& index, const std::vector<LockIndexRow>& rows, std::FILE* out)
{
    nlohmann::ordered_json json;
    json["schema_version"] = 1;
    json["build_id"] = index.buildId;
    json["call_sites"] = index.rows.size();
    json["named"] = index.namedCount;
    json["without_debug_info"] = index.withoutInfoCount;
    json["rows"] = nlohmann::ordered_json::array();
    for (const LockIndexRow& row : rows) {
        nlohmann::ordered_json one;
        one["address"] = row.callSite;
        one["function"] = row.function;
        one["inlined"] = row.inlined;
        one["routine"] = row.routine;
        one["kind"] = lockKindName(row.kind);
        one["side"] = sideName(row);
        one["lock"] = row.lock;
        one["expression"] = row.expression;
        one["rung"] = rungOf(row);
        one["inferred"] = row.inferred;
        one["ambiguous"] = row.ambiguous;
        one["try"] = row.tries;
        one["tail"] = row.tail;
        json["rows"].push_back(std::move(one));
    }
    print(out, "{}\n", json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void printText(const LockIndex& index, const std::vector<LockIndexRow>& rows, bool filtered, std::FILE* out)
{
    print(out, "{} call sites of lock routines, {} named\n", index.rows.size(), index.namedCount);
    if (index.withoutInfoCount != 0)
        print(out, "{} of them in code without debug info (assembler, or a .dwo file that is not there)\n",
            index.withoutInfoCount);
    print(out, "\n");
    if (filtered) {
        for (const LockIndexRow& row : rows) {
            const std::string_view lock = row.lock.empty() ? std::string_view("(unnamed)") : row.lock;
            print(out, "{:#x}  {}{}  {}\n    {}{}\n    {}\n", row.callSite, row.routine,
                sideName(row) == "-" ? std::string() : fmt::format(" ({})", sideName(row)),
                printable(row.expression), printable(lock), row.inferred ? "  (inferred)" : "",
                printable(chainText(row)));
        }
        print(out, "{}{} of them shown\n", rows.empty() ? "" : "\n", rows.size());
        return;
    }
    print(out, "functions  sites  kind          lock\n");
    for (const LockSummary& lock : summariseLocks(rows))
        print(out, "{:9}  {:5}  {:12}  {}\n", lock.functionCount, lock.callSiteCount, lock.kind,
            printable(lock.lock));
}

} // namespace

int locksCommand(const Options& options, std::FILE* out, std::FILE* err)
{
    const LockIndexFilter filter{options.function, options.lock};
    const bool filtered = !filter.function.empty() || !filter.lock.empty();
    const auto routines = lockTable(options.lockTable);
    if (!routines) {
        print(err, "whichlock: {}\n", printable(sentenceOf(routines.error())));
        return kUsage;
    }
    int exitCode = kFine;
    for (const std::string& path : options.files) {
        const auto index = lockIndexOf(path, options.symbols, *routines, err);
        if (!index) {
            print(err, "whichlock: {}: {}\n", printable(path), printable(index.error().message));
            exitCode = options.files.size() == 1 ? kUsage : kDataLoss;
            continue;
        }
        std::vector<LockIndexRow> rows;
        for (const LockIndexRow& row : index->rows)
            if (filter.takes(row))
                rows.push_back(row);
        switch (options.format) {
        case OutputFormat::Json:
            printJson(*index, rows, out);
            break;
        case OutputFormat::Csv:
            printCsv(rows, out);
            break;
        case OutputFormat::Text:
        case OutputFormat::Markdown:
            printText(*index, rows, filtered, out);
            break;
        }
    }
    return exitCode;
}

} // namespace whichlock::cli
