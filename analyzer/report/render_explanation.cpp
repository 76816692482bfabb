// SPDX-License-Identifier: GPL-3.0-or-later
// An explanation as text and as JSON.
#include "analyzer/report/explanation.h"
#include "analyzer/report/value_format.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace whichlock {
namespace {

using Json = nlohmann::ordered_json;

std::string orNone(const std::string& text)
{
    return text.empty() ? std::string("none recorded") : text;
}

Rung rungOf(const LockName& name)
{
    if (!name.isNamed())
        return Rung::CallSite;
    return name.source == NameSource::Symbol ? Rung::Symbol : Rung::Type;
}

void addRow(const ExplainedRow& row, std::string& out)
{
    out += fmt::format("Lock {}:{}  {}\n", row.section, row.id, row.name);
    out += fmt::format("  of          {}, {} {} waited, {} of all lock waiting there\n",
        row.title.empty() ? "section" : row.title, row.value, row.unit, formatShare(row.ofLock, 1));
    out += fmt::format("  kind        {}\n", row.kind);
    out += fmt::format("  rung        {}: {}\n", rungName(row.rung), rungMeaning(row.rung));
    if (row.verified)
        out += fmt::format("  verified    {}\n",
            *row.verified ? "yes, the build ids are equal"
                          : "no, nothing proves that the files are those that ran");
    if (!row.arch.empty())
        out += fmt::format("  processor   {}: {}\n", row.arch, rungsOf(row.arch));
    if (!row.basis.empty())
        out += fmt::format("  basis       {}\n", row.basis);
    if (!row.expression.empty())
        out += fmt::format("  expression  {}\n", row.expression);
    if (row.address)
        out += fmt::format("  address     {:#x}\n", *row.address);
    for (const std::string& site : row.sites)
        out += fmt::format("  taken at    {}\n", site);
}

void addModule(const ModuleEvidence& module, std::string& out)
{
    out += fmt::format("  module      {}\n", module.recordedPath);
    out += fmt::format("  build id    {}\n", orNone(module.recordedBuildId));
    if (!module.code.empty())
        out +=
            fmt::format("  file        {}, {}\n", module.code, module.verified ? "verified" : "unverified");
    if (!module.debug.empty() && module.debug != module.code)
        out += fmt::format("  debug info  {}\n", module.debug);
    if (!module.problem.empty())
        out += fmt::format("  no names    {}\n", module.problem);
}

void addFrame(const EvidenceFrame& frame, std::string& out)
{
    out += fmt::format("  in {}  ({})\n", frame.function, frame.module);
    for (const EvidenceStep& step : frame.steps)
        out += fmt::format("    {:#x}  {:<40}  lock at {}\n", step.address, step.instruction, step.value);
    if (frame.namedAt != 0)
        out += fmt::format("    at {:#x} the lock is at {}\n", frame.namedAt, frame.namedValue);
    for (const std::string& variable : frame.variables)
        out += fmt::format("    {}\n", variable);
    if (!frame.typePath.empty())
        out += fmt::format("    {}\n", frame.typePath);
    out += frame.expression.empty() ? "    no name in this function\n"
                                    : fmt::format("    name here: {}\n", frame.expression);
}

void addCall(const CallEvidence& call, std::string& out)
{
    out += fmt::format("\nCall in {}  (offset {:#x})\n", call.function, call.offset);
    addModule(call.module, out);
    if (!call.name) {
        if (call.module.problem.empty())
            out += "  no names    no lock routine is called there, or it cannot be told which\n";
        return;
    }
    const LockName& name = *call.name;
    out += fmt::format("  calls       {}{}\n", name.evidence.routine, name.tries ? ", which only tries" : "");
    out += fmt::format("  takes       {} ({}{})\n", name.isNamed() ? name.text() : "a lock without a name",
        lockKindName(name.kind), name.side == LockSide::Shared ? ", to read" : "");
    if (!name.expression.empty())
        out += fmt::format("  expression  {}\n", name.expression);
    const Rung rung = rungOf(name);
    out += fmt::format("  rung        {}{}: {}{}\n", rungName(rung), name.btf ? " (BTF)" : "",
        rungMeaning(rung), name.inferred ? ", inferred from " + name.evidence.method : "");
    for (const std::string& other : name.alternatives)
        out += fmt::format("  or else     {}\n", other);
    if (name.evidence.frames.size() > 1)
        out += fmt::format(
            "  composed    of {} functions: what the inner ones are passed is named further out\n",
            name.evidence.frames.size());
    for (const EvidenceFrame& frame : name.evidence.frames)
        addFrame(frame, out);
}

void addVariable(const VariableEvidence& variable, std::string& out)
{
    out += fmt::format("\nAddress {:#x}\n", variable.address);
    addModule(variable.module, out);
    out += fmt::format("  in the file {:#x}{}\n", variable.addressInFile,
        variable.perCpu ? ", in the image of each processor's variables" : "");
    if (!variable.symbol.empty())
        out += fmt::format("  symbol      {}\n", variable.symbol);
    if (!variable.name.empty())
        out += fmt::format("  variable    {}\n", variable.name);
}

Json moduleJson(const ModuleEvidence& module)
{
    Json json;
    json["path"] = module.recordedPath;
    json["build_id"] = module.recordedBuildId;
    json["file"] = module.code;
    json["debug_info"] = module.debug;
    json["verified"] = module.verified;
    if (!module.problem.empty())
        json["problem"] = module.problem;
    return json;
}

Json frameJson(const EvidenceFrame& frame)
{
    Json json;
    json["function"] = frame.function;
    json["file"] = frame.module;
    json["call_site"] = fmt::format("{:#x}", frame.callSite);
    json["steps"] = Json::array();
    for (const EvidenceStep& step : frame.steps)
        json["steps"].push_back({{"address", fmt::format("{:#x}", step.address)},
            {"instruction", step.instruction}, {"lock_at", step.value}});
    if (frame.namedAt != 0) {
        json["named_at"] = fmt::format("{:#x}", frame.namedAt);
        json["named_value"] = frame.namedValue;
    }
    json["variables"] = frame.variables;
    json["type_path"] = frame.typePath;
    json["expression"] = frame.expression;
    return json;
}

Json callJson(const CallEvidence& call)
{
    Json json;
    json["function"] = call.function;
    json["offset"] = call.offset;
    json["module"] = moduleJson(call.module);
    if (!call.name)
        return json;
    const LockName& name = *call.name;
    json["routine"] = name.evidence.routine;
    json["lock"] = name.text();
    json["class"] = name.lockClass;
    json["expression"] = name.expression;
    json["kind"] = lockKindName(name.kind);
    json["side"] = name.side == LockSide::Shared ? "read" : "write";
    json["rung"] = rungName(rungOf(name));
    json["types_of"] = name.btf ? "BTF" : "DWARF";
    json["inferred"] = name.inferred;
    json["method"] = name.evidence.method;
    json["alternatives"] = name.alternatives;
    json["frames"] = Json::array();
    for (const EvidenceFrame& frame : name.evidence.frames)
        json["frames"].push_back(frameJson(frame));
    return json;
}

Json rowJson(const ExplainedRow& row)
{
    Json json;
    json["section"] = row.section;
    json["id"] = row.id;
    json["name"] = row.name;
    json["class"] = row.lockClass;
    json["expression"] = row.expression;
    json["rung"] = rungName(row.rung);
    json["rung_meaning"] = rungMeaning(row.rung);
    json["kind"] = row.kind;
    if (!row.arch.empty()) {
        json["arch"] = row.arch;
        json["rungs_of_arch"] = rungsOf(row.arch);
    }
    json["basis"] = row.basis;
    if (row.verified)
        json["verified"] = *row.verified;
    if (row.address)
        json["address"] = fmt::format("{:#x}", *row.address);
    json["value"] = row.value;
    json["unit"] = row.unit;
    json["share_of_lock_percent"] =
        static_cast<double>(row.ofLock.ppb) / static_cast<double>(Share::kPercent);
    json["sites"] = row.sites;
    return json;
}

/// Line by line without what could steer a terminal.
std::string printableLines(const std::string& text)
{
    std::string result;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        result += printable(std::string_view(text).substr(begin, end - begin)) + '\n';
        begin = end + 1;
    }
    return result;
}

} // namespace

std::string renderExplanation(const LockExplanation& explanation)
{
    std::string out;
    if (explanation.row)
        addRow(*explanation.row, out);
    for (const VariableEvidence& variable : explanation.variables)
        addVariable(variable, out);
    for (const CallEvidence& call : explanation.calls)
        addCall(call, out);
    if (explanation.callsLeftOut != 0)
        out += fmt::format("\n{} more calls that take it are not shown\n", explanation.callsLeftOut);
    if (explanation.calls.empty() && explanation.variables.empty())
        out += "\nNo address of this input can be looked up: the name rests on what is said above alone.\n";
    for (const Diagnostic& one : explanation.refusals)
        out += fmt::format("\nRefused or not proven: {}\n", sentenceOf(one));
    return printableLines(out);
}

std::string renderExplanationJson(const LockExplanation& explanation)
{
    Json json;
    json["schema_version"] = 1;
    json["inputs"] = explanation.inputs;
    if (explanation.row)
        json["lock"] = rowJson(*explanation.row);
    json["calls"] = Json::array();
    for (const CallEvidence& call : explanation.calls)
        json["calls"].push_back(callJson(call));
    json["calls_left_out"] = explanation.callsLeftOut;
    json["addresses"] = Json::array();
    for (const VariableEvidence& variable : explanation.variables)
        json["addresses"].push_back({{"address", fmt::format("{:#x}", variable.address)},
            {"address_in_file", fmt::format("{:#x}", variable.addressInFile)}, {"symbol", variable.symbol},
            {"variable", variable.name}, {"per_cpu", variable.perCpu},
            {"module", moduleJson(variable.module)}});
    json["refused"] = Json::array();
    for (const Diagnostic& one : explanation.refusals)
        json["refused"].push_back(sentenceOf(one));
    return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace whichlock
