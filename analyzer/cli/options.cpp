// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/cli/options.h"

#include <boost/program_options.hpp>
#include <sstream>

namespace whichlock::cli {
namespace {

namespace po = boost::program_options;

po::options_description visibleOptions()
{
    const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
    const auto list = [](const char* name) {
        return po::value<std::vector<std::string>>()->value_name(name)->composing();
    };
    po::options_description options("Options");
    auto add = options.add_options();
    add("format", text("text|markdown|json|csv"), "how to print; csv is for `locks` only");
    add("brief", "verdict, five locks and what to record next: at most 25 lines");
    add("redact", "put stable tokens in place of hosts, users, paths and file names");
    add("by", text("WHAT"), ("rows of the main table: " + groupByNames()).c_str());
    add("time", text("FROM-TO"),
        "only samples of this time, in seconds after the first one: 1.5-2.25, -2, 3-; or 10%-20% of a "
        "perf.data; or FROM,TO in the times that perf script prints. TO does not belong to it");
    add("thread", list("NAME|TID"), "only these threads; several with commas or by repeating the option");
    add("process", list("NAME|PID"), "only these processes");
    add("cpu", list("LIST"), "only samples of these CPUs: 0,2-5");
    add("focus", text("REGEX"),
        "only samples with a function in their call chain in which this is found (RE2, case counts)");
    add("lock-table", text("FILE"),
        "lock routines of your own; they come before the built-in ones of the same name");
    add("symfs", text("DIR"), "where the recorded paths of programs and libraries begin");
    add("debug-dir", list("DIR"),
        "a folder with programs or debug files, by build id or name; may be given several times");
    add("vmlinux", text("FILE"), "the recorded kernel");
    add("kallsyms", text("FILE"), "/proc/kallsyms or System.map of the recorded kernel");
    add("btf", text("FILE"),
        "BTF of the recorded kernel, as /sys/kernel/btf/vmlinux: types for names of locks where there is "
        "code "
        "but no debug info");
    add("function", text("NAME"), "locks: only what this function takes");
    add("lock", text("NAME"),
        "report: this lock in depth, by any part of its name, its number or its address; locks: only where "
        "it is taken");
    add("holds", "report: how long locks were held, where traces have recorded that");
    add("version", "print the version");
    add("help", "print this help");
    return options;
}

tl::unexpected<std::string> wrong(std::string text)
{
    return tl::make_unexpected(std::move(text));
}

tl::expected<OutputFormat, std::string> outputFormat(const std::string& name)
{
    if (name == "text")
        return OutputFormat::Text;
    if (name == "markdown")
        return OutputFormat::Markdown;
    if (name == "json")
        return OutputFormat::Json;
    if (name == "csv")
        return OutputFormat::Csv;
    return wrong("--format takes text, markdown, json or csv, not '" + name + "'");
}

tl::expected<Options, std::string> fromVariables(const po::variables_map& variables)
{
    Options options;
    if (variables.count("version") != 0) {
        options.command = Command::Version;
        return options;
    }
    if (variables.count("help") != 0 || variables.count("command") == 0)
        return options;
    const auto command = variables["command"].as<std::string>();
    if (command == "report")
        options.command = Command::Report;
    else if (command == "formats")
        options.command = Command::Formats;
    else if (command == "locks")
        options.command = Command::Locks;
    else if (command == "explain")
        options.command = Command::Explain;
    else if (command == "help")
        return options;
    else
        return wrong("'" + command + "' is no command; there are report, explain, locks and formats");
    if (variables.count("files") != 0)
        options.files = variables["files"].as<std::vector<std::string>>();
    if (options.files.empty())
        return wrong("name at least one file ('-' reads standard input)");
    if (variables.count("format") != 0) {
        const auto format = outputFormat(variables["format"].as<std::string>());
        if (!format)
            return wrong(format.error());
        options.format = *format;
        if (options.format == OutputFormat::Csv && options.command != Command::Locks)
            return wrong("--format csv is for `locks` only");
    }
    options.brief = variables.count("brief") != 0;
    options.redact = variables.count("redact") != 0;
    const auto take = [&](const char* name, std::string& to) {
        if (variables.count(name) != 0)
            to = variables[name].as<std::string>();
    };
    take("function", options.function);
    take("lock", options.lock);
    take("lock-table", options.lockTable);
    take("symfs", options.symbols.symfs);
    take("vmlinux", options.symbols.vmlinux);
    take("kallsyms", options.symbols.kallsyms);
    take("btf", options.symbols.btf);
    const auto takeAll = [&](const char* name, std::vector<std::string>& to) {
        if (variables.count(name) != 0)
            to = variables[name].as<std::vector<std::string>>();
    };
    takeAll("debug-dir", options.symbols.debugDirs);
    QueryTexts texts;
    if (variables.count("by") != 0)
        texts.by = variables["by"].as<std::string>();
    if (variables.count("time") != 0)
        texts.time = variables["time"].as<std::string>();
    takeAll("thread", texts.threads);
    takeAll("process", texts.processes);
    takeAll("cpu", texts.cpus);
    take("focus", texts.focus);
    texts.lock = options.command == Command::Report ? options.lock : std::string();
    texts.holds = variables.count("holds") != 0;
    auto query = parseQuery(texts);
    if (!query)
        return wrong(query.error());
    options.query = std::move(*query);
    return options;
}

} // namespace

tl::expected<Options, std::string> parseOptions(const std::vector<std::string>& arguments)
{
    po::options_description all = visibleOptions();
    all.add_options()("command", po::value<std::string>())("files", po::value<std::vector<std::string>>());
    po::positional_options_description positional;
    positional.add("command", 1).add("files", -1);
    po::variables_map variables;
    try {
        po::store(po::command_line_parser(arguments).options(all).positional(positional).run(), variables);
    } catch (const po::error& error) {
        return wrong(error.what());
    }
    return fromVariables(variables);
}

std::string helpText()
{
    std::ostringstream text;
    text
        << "whichlock: which lock, who waits for it and where, how sure are we\n\n"
           "  whichlock report FILE...    read profiles and say whether a lock is to blame\n"
           "  whichlock explain LOCK FILE...  say what the name of one lock of such a report rests on; of a\n"
           "                              program or vmlinux, of the calls at an address or in a function\n"
           "  whichlock locks FILE...     say which functions of a program or vmlinux take which lock\n"
           "  whichlock formats FILE...   say what each file was taken for, and why\n\n"
           "Several files are one session: an opreport and a vmstat belong together.\n"
           "'-' reads standard input. Exit code: 0 fine, 1 usage or nothing could be read,\n"
           "2 something was lost or could not be read, 3 internal error, 4 unknown format.\n\n"
        << visibleOptions();
    return text.str();
}

} // namespace whichlock::cli
