// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/expected_report.h"

#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace whichlock::test {
namespace {

using Json = nlohmann::json;

bool isProfile(const Json& section)
{
    return section.at("kind") == "cpu-profile";
}

bool isLockTable(const Json& section)
{
    return section.at("kind") == "lock-table";
}

bool isWaitProfile(const Json& section)
{
    return section.at("kind") == "wait-profile";
}

/// Whether a row of a report only says where its lock is taken, or that it is waited for.
bool isNameless(const Json& lock)
{
    static const std::set<std::string> kPlaces{"source-line", "call-site", "unnamed"};
    return kPlaces.contains(lock.at("rung"));
}

/// Lower case letters and digits only: `rq->lock` and `rq lock` are spellings of one name.
std::string spelling(std::string name)
{
    constexpr std::string_view kStruct = "struct ";
    if (name.starts_with(kStruct))
        name.erase(0, kStruct.size());
    std::string result;
    for (const char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return result;
}

/// `super_block::s_umount` of `sb->s_umount`: the types of the variables that right values name locks by, and
/// the members that macros stand for. Empty if the variable is not among them.
std::string nameByType(const std::string& name)
{
    static const std::map<std::string, std::string> kTypes{{"rq", "rq"}, {"si", "swap_info_struct"},
        {"nlru", "list_lru_node"}, {"lru", "list_lru_one"}, {"sb", "super_block"}, {"inode", "inode"},
        {"dentry", "dentry"}, {"dev", "net_device"}, {"zone", "zone"}, {"lruvec", "lruvec"},
        {"mm", "mm_struct"}, {"group", "psi_group"}, {"pag", "xfs_perag"}, {"isec", "inode_security_struct"},
        {"sbsec", "superblock_security_struct"}, {"bp", "xfs_buf"}, {"log", "xlog"},
        {"pipe", "pipe_inode_info"}, {"q", "wait_queue_head"}, {"space_info", "btrfs_space_info"}};
    static const std::map<std::string, std::string> kMacros{{"d_lock", "d_lockref.lock"}};
    const size_t arrow = name.find("->");
    const size_t start = name.starts_with('&') ? 1 : 0;
    if (arrow == std::string::npos)
        return {};
    const auto type = kTypes.find(name.substr(start, arrow - start));
    const std::string member = name.substr(arrow + 2);
    const auto macro = kMacros.find(member);
    return type == kTypes.end() ? std::string()
                                : type->second + "::" + (macro == kMacros.end() ? member : macro->second);
}

/// The names of `A or B`.
std::vector<std::string> alternativesOf(const std::string& name)
{
    constexpr std::string_view kOr = " or ";
    std::vector<std::string> names;
    size_t start = 0;
    for (size_t end = name.find(kOr); end != std::string::npos; end = name.find(kOr, start)) {
        names.push_back(name.substr(start, end - start));
        start = end + kOr.size();
    }
    names.push_back(name.substr(start));
    return names;
}

class Checker {
public:
    Checker(const Json& expected, const Json& report, const Profile& profile)
        : expected_(expected)
        , report_(report)
        , profile_(profile)
        , tolerance_(expected.value("tolerance_percent", 0.01))
    {
        for (const Json& section : report.at("sections")) {
            if (isProfile(section))
                profiles_.push_back(&section);
        }
    }

    bool isOfLockTables() const
    {
        static const std::set<std::string> kKinds{
            "lock_stat", "lockmeter", "perf lock", "klockstat", "pprof", "offcputime", "bpftrace"};
        return kKinds.contains(expected_.at("kind"));
    }

    bool isOfRobot() const { return expected_.at("kind") == "lkp"; }

    std::vector<std::string> run()
    {
        checkSectionCount();
        checkRows();
        checkVerdict();
        if (isOfRobot())
            checkRobot();
        else if (!profiles_.empty())
            checkProfile(expected_, mainProfile(), "main profile");
        checkPerfScript();
        if (!isOfRobot())
            checkLocks();
        checkCompare();
        checkBySection();
        if (expected_.contains("vmstat"))
            checkCounters(expected_.at("vmstat"), *countersAt(0), "first vmstat");
        return std::move(differences_);
    }

private:
    void differ(std::string what) { differences_.push_back(std::move(what)); }

    template <class Value> void equal(const std::string& what, const Value& right, const Value& found)
    {
        if (right != found)
            differ(fmt::format("{}: {} is right, found {}", what, right, found));
    }

    void near(const std::string& what, double right, double found, double tolerance)
    {
        if (!(std::abs(right - found) <= tolerance))
            differ(fmt::format("{}: {} is right, found {}", what, right, found));
    }

    /// The section that the top level of the right values speaks of: the first, or the one that decides.
    const Json& mainProfile() const
    {
        const Json& verdict = report_.at("verdict");
        if (!expected_.contains("by_section") || !verdict.contains("section"))
            return *profiles_.front();
        const Json& deciding = report_.at("sections").at(verdict.at("section").get<size_t>());
        const Json& right = expected_.at("by_section");
        const auto sections = countedSections();
        const Json* same = nullptr;
        for (size_t i = 0; i < std::min(right.size(), sections.size()); ++i) {
            const bool isSame = isProfile(*sections[i]) && expected_.contains("lock_symbols")
                && right[i].value("lock_symbols", Json()) == expected_.at("lock_symbols");
            if (isSame && (same == nullptr || sections[i] == &deciding))
                same = sections[i];
        }
        return same != nullptr ? *same : deciding;
    }

    bool hasVmstatSections() const
    {
        for (const Json& section : expected_.value("by_section", Json::array())) {
            if (section.contains("vmstat"))
                return true;
        }
        return expected_.at("kind") == "vmstat";
    }

    /// The sections that `sections` and `by_section` speak of.
    std::vector<const Json*> countedSections() const
    {
        const bool tablesOnly = expected_.contains("scaling") || profiles_.empty();
        std::vector<const Json*> counted;
        for (const Json& section : report_.at("sections")) {
            if (isOfRobot() && isProfile(section))
                continue; // the call paths of a table that was counted
            if (section.at("kind") == "counters" && !hasVmstatSections())
                continue; // a small excerpt beside the profiles
            if (isLockTable(section) && !isOfLockTables())
                continue; // beside the benchmark tables
            if (section.at("kind") == "measurements" && !tablesOnly && expected_.contains("by_section"))
                continue;
            counted.push_back(&section);
        }
        return counted;
    }

    void checkSectionCount()
    {
        if (expected_.contains("sections"))
            equal("sections", expected_.at("sections").get<size_t>(), countedSections().size());
    }

    void checkRows()
    {
        if (!expected_.contains("rows"))
            return;
        // One table with two events is two sections of the same rows.
        std::map<std::string, uint64_t> byPlace;
        for (const Json& section : report_.at("sections")) {
            if ((!profiles_.empty() && isProfile(section) == isOfRobot())
                || isOfLockTables() != (isLockTable(section) || isWaitProfile(section)))
                continue;
            const std::string place = section.at("position").dump();
            byPlace[place] = std::max(byPlace[place], section.at("rows").get<uint64_t>());
        }
        uint64_t rows = 0;
        for (const auto& entry : byPlace)
            rows += entry.second;
        equal("rows", expected_.at("rows").get<uint64_t>(), rows);
    }

    void checkVerdict()
    {
        const std::string guilty = report_.at("verdict").at("guilty");
        if (expected_.value("must_not_blame", false) && guilty == "yes")
            differ("a lock is blamed where none may be");
        if (!expected_.value("not_identifiable", false))
            return;
        for (const Json* section : profiles_) {
            for (const Json& lock : section->at("locks")) {
                if (!isNameless(lock))
                    differ(fmt::format("{} is named, but the input cannot name the lock",
                        lock.at("name").get<std::string>()));
            }
        }
    }

    void checkSymbols(const Json& right, const Json& found, const std::string& where)
    {
        std::set<std::string> seen;
        for (const Json& symbol : found.at("lock_symbols")) {
            const std::string name = symbol.at("symbol");
            seen.insert(name);
            if (!right.contains(name)) {
                differ(fmt::format("{}: {} is no lock function", where, name));
                continue;
            }
            if (right.at(name).is_number_integer())
                equal(
                    where + ": " + name, right.at(name).get<uint64_t>(), symbol.at("value").get<uint64_t>());
            else
                near(where + ": " + name, right.at(name).get<double>(),
                    symbol.at("share_of_total_percent").get<double>(), tolerance_);
        }
        for (const auto& item : right.items()) {
            if (!seen.contains(item.key()))
                differ(fmt::format("{}: lock function {} is missing", where, item.key()));
        }
    }

    void checkProfile(const Json& right, const Json& found, const std::string& where)
    {
        for (const char* key :
            {"lock_functions_share_of_total_percent", "lock_functions_share_of_busy_percent",
                "contention_share_of_total_percent", "contention_share_of_busy_percent",
                "bounce_share_of_total_percent", "bounce_share_of_busy_percent"}) {
            if (right.contains(key) && !found.contains(key))
                differ(fmt::format("{}: {} is missing", where, key));
            else if (right.contains(key))
                near(
                    where + ": " + key, right.at(key).get<double>(), found.at(key).get<double>(), tolerance_);
        }
        // Where the right values leave the waiting out, the input cannot decide it, and the report must not.
        if (right.contains("lock_functions_share_of_total_percent")
            && !right.contains("contention_share_of_total_percent")
            && found.contains("contention_share_of_total_percent"))
            differ(fmt::format("{}: contention is given, but cannot be told from this input", where));
        if (right.contains("lock_symbols"))
            checkSymbols(right.at("lock_symbols"), found, where);
        if (right.contains("samples_total") && right.size() > 1 && !right.contains("events")) {
            const double total =
                found.contains("samples") ? found.at("samples").get<double>() : found.value("total", 0.0);
            near(where + ": total", right.at("samples_total").get<double>(), total, 1e-7);
        }
        if (right.contains("rows") && &right != &expected_)
            equal(where + ": rows", right.at("rows").get<uint64_t>(), found.at("rows").get<uint64_t>());
        if (right.contains("idle_symbols")) {
            std::set<std::string> names;
            for (const Json& symbol : found.at("idle_symbols"))
                names.insert(symbol.at("symbol").get<std::string>());
            std::set<std::string> rightNames = right.at("idle_symbols").get<std::set<std::string>>();
            // Idle rows of a session are listed for its first section with idle time.
            if (!names.empty() || &right != &expected_)
                equal(where + ": idle symbols", fmt::format("{}", fmt::join(rightNames, " ")),
                    fmt::format("{}", fmt::join(names, " ")));
        }
    }

    /// Samples a leaf symbol, over the sections of an event (all if it is empty).
    std::map<std::string, uint64_t> leaves(const std::string& position) const
    {
        std::map<std::string, uint64_t> counts;
        for (size_t i = 0; i < profile_.sections.size(); ++i) {
            if (!position.empty() && report_.at("sections")[i].at("position").dump() != position)
                continue;
            for (const Cell& cell : profile_.sections[i].cells) {
                if (cell.stack)
                    counts[std::string(profile_.leafSymbol(cell.stack))] += cell.samples;
            }
        }
        return counts;
    }

    void checkPerfScript()
    {
        if (!expected_.contains("events"))
            return;
        uint64_t samples = 0;
        for (const Json* section : profiles_) {
            samples += section->at("samples").get<uint64_t>();
            const std::string event = section->at("event");
            if (!expected_.at("events").contains(event))
                differ("event " + event + " is not in the file");
            else
                equal("samples of " + event, expected_.at("events").at(event).get<uint64_t>(),
                    section->at("samples").get<uint64_t>());
        }
        equal("samples", expected_.at("samples_total").get<uint64_t>(), samples);
        if (expected_.contains("comms")) {
            std::set<std::string> comms;
            for (const Section& section : profile_.sections) {
                for (const Cell& cell : section.cells)
                    comms.insert(std::string(profile_.string(profile_.group(cell.group).comm)));
            }
            equal("comms", expected_.at("comms").get<size_t>(), comms.size());
        }
        if (expected_.contains("leaf_symbols"))
            equal("leaf symbols", expected_.at("leaf_symbols").dump(), Json(leaves({})).dump());
    }

    static std::set<std::string> spellingsOf(const Json& lock)
    {
        std::vector<std::string> given = lock.value("aliases", std::vector<std::string>{});
        given.push_back(lock.at("name"));
        if (lock.contains("class"))
            given.push_back(lock.at("class"));
        std::set<std::string> names;
        for (const std::string& name : given) {
            names.insert(spelling(name));
            if (const std::string byType = nameByType(name); !byType.empty())
                names.insert(spelling(byType));
        }
        return names;
    }

    /// Where a right lock is taken, a row that claims a name has to claim that one, alone or among a few; at
    /// the places of `named_at` one has to be claimed.
    void checkNamesOfSites(const Json& right, const std::set<std::string>& names)
    {
        std::set<std::string> places = right.value("named_at", std::set<std::string>{});
        const std::set<std::string> wanted = places;
        for (const Json& site : right.value("sites", Json::array()))
            places.insert(site.at("name").get<std::string>());
        for (const std::string& place : places) {
            bool named = wanted.contains(place);
            bool rightly = false;
            for (const Json* lock : locksTakenAt(place)) {
                if (isNameless(*lock))
                    continue;
                named = true;
                const auto given = alternativesOf(lock->at("name"));
                rightly = rightly || std::any_of(given.begin(), given.end(), [&](const std::string& one) {
                    return names.contains(spelling(one));
                });
            }
            if (named && !rightly)
                differ(fmt::format(
                    "the lock of {} is not called {}", place, right.at("name").get<std::string>()));
        }
    }

    std::vector<const Json*> locksTakenAt(const std::string& place) const
    {
        std::vector<const Json*> found;
        for (const Json& section : report_.at("sections")) {
            if (!section.contains("locks"))
                continue;
            for (const Json& lock : section.at("locks")) {
                const Json& sites = lock.at("sites");
                if (std::any_of(sites.begin(), sites.end(),
                        [&](const Json& site) { return site.at("name") == place; }))
                    found.push_back(&lock);
            }
        }
        return found;
    }

    const Json* findByName(
        const char* list, const std::set<std::string>& names, bool orOneOfFew = false) const
    {
        for (const Json& section : report_.at("sections")) {
            if (!section.contains(list))
                continue;
            for (const Json& one : section.at(list)) {
                const std::string name = one.at("name");
                const std::vector<std::string> given =
                    orOneOfFew ? alternativesOf(name) : std::vector<std::string>{name};
                if (std::any_of(given.begin(), given.end(),
                        [&](const std::string& each) { return names.contains(spelling(each)); }))
                    return &one;
            }
        }
        return nullptr;
    }

    /// A name that another lock of the right values has as its own is no alias.
    void dropNamesOfOthers(const Json& right, std::set<std::string>& names) const
    {
        for (const Json& other : expected_.at("locks"))
            if (other.at("name") != right.at("name"))
                names.erase(spelling(other.at("name")));
    }

    /// A weaker grade than the right one may be given, a stronger one never.
    void checkLocks()
    {
        for (const Json& right : expected_.value("locks", Json::array())) {
            const std::string name = right.at("name");
            auto names = spellingsOf(right);
            dropNamesOfOthers(right, names);
            const Json* lock = findByName("locks", names);
            if (lock == nullptr && right.value("in_table", true))
                lock = findByName("locks", names, true);
            const bool candidate = findByName("candidates", names) != nullptr;
            checkNamesOfSites(right, names);
            if (!right.value("in_table", true)) {
                if (lock != nullptr && !right.contains("named_at"))
                    differ(name + " is claimed, but no table knows its site");
                checkNamelessSites(right);
                continue;
            }
            if (right.at("grade") == "candidate") {
                if (lock != nullptr)
                    differ(name + " is claimed, but is a candidate at most");
                else if (!candidate)
                    differ(name + " is missing among the candidates");
                continue;
            }
            if (lock == nullptr) {
                if (!candidate)
                    differ(name + " is neither named nor a candidate");
                continue;
            }
            checkLockFigures(right, *lock);
        }
    }

    /// Whether a table of locks has a place with this waiting.
    bool hasTableSite(const std::string& name, double us) const
    {
        for (const Json& section : report_.at("sections")) {
            for (const Json& lock : section.value("locks", Json::array())) {
                for (const Json& site : lock.at("sites")) {
                    const double found = site.value("value", 0.0) / 1000;
                    if (site.at("name") == name
                        && std::abs(found - us) <= std::max(0.001, us * tolerance_ / 100))
                        return true;
                }
            }
        }
        return false;
    }

    /// A lock that the tables do not know is told by where it is taken: the sites have their shares of all.
    void checkNamelessSites(const Json& right)
    {
        for (const Json& site : right.value("sites", Json::array())) {
            if (!site.contains("share_percent"))
                continue;
            const std::string name = site.at("name");
            const double share = site.at("share_percent");
            bool found =
                isOfLockTables() && hasTableSite(name, right.value("wait_total_us", 0.0) * share / 100);
            for (const Json* section : profiles_) {
                for (const Json& lock : section->at("locks")) {
                    for (const Json& one : lock.at("sites")) {
                        const double ofTotal = one.at("share_of_total_percent");
                        const double contention = section->at("contention_share_of_total_percent");
                        found = found
                            || (one.at("name") == name
                                && (std::abs(ofTotal - share) <= tolerance_
                                    || std::abs(100 * ofTotal / contention - share) <= tolerance_));
                    }
                }
            }
            if (!found)
                differ(fmt::format("no lock is taken at {} with {} %", name, share));
        }
    }

    /// The row of a comparison of this kind of profile, if its figure before or after is near `percent`.
    const Json* robotRow(const std::string& kind, const std::string& part, double percent) const
    {
        for (const Json& comparison : report_.at("comparisons")) {
            if (comparison.value("about", "").find(kind) == std::string::npos)
                continue;
            for (const Json& row : comparison.at("rows")) {
                const std::string what = row.at("what");
                const bool named = kind == "children" ? what == part : what.find(part) != std::string::npos;
                for (const char* side : {"before", "after"}) {
                    if (named && row.at(side).is_number()
                        && std::abs(row.at(side).get<double>() - percent) <= tolerance_)
                        return &row;
                }
            }
        }
        return nullptr;
    }

    /// Shares of functions with what they call stand in the comparison; locks follow from the call paths.
    void checkRobot()
    {
        for (const auto& [symbol, percent] : expected_.at("lock_symbols").items()) {
            if (robotRow("children", symbol, percent.get<double>()) == nullptr)
                differ(symbol + " is missing");
        }
        for (const Json& right : expected_.at("locks")) {
            std::set<std::string> names = spellingsOf(right);
            const Json* lock = nullptr;
            for (const Json* section : profiles_) {
                for (const Json& one : section->at("locks")) {
                    // `A or B` claims less than A.
                    const std::string found = spelling(one.at("name"));
                    if (std::any_of(names.begin(), names.end(),
                            [&](const std::string& name) { return found.find(name) != std::string::npos; }))
                        lock = &one;
                }
            }
            if (lock == nullptr) {
                differ(right.at("name").get<std::string>() + " is not named");
                continue;
            }
            for (const Json& site : right.at("sites")) {
                const std::string name = site.at("name");
                const auto& sites = lock->at("sites");
                if (std::none_of(
                        sites.begin(), sites.end(), [&](const Json& one) { return one.at("name") == name; })
                    || robotRow("calltrace", name, site.at("share_percent").get<double>()) == nullptr)
                    differ(fmt::format("site {} is missing", name));
            }
        }
    }

    void checkSites(const Json& right, const Json& lock)
    {
        for (const Json& site : right.value("sites", Json::array())) {
            const auto found = std::find_if(lock.at("sites").begin(), lock.at("sites").end(),
                [&](const Json& one) { return one.at("name") == site.at("name"); });
            if (found == lock.at("sites").end()) {
                differ(fmt::format("{}: site {} is missing", lock.at("name").get<std::string>(),
                    site.at("name").get<std::string>()));
                continue;
            }
            if (!site.contains("share_percent"))
                continue;
            // Given as a share of the lock, or of all waiting where one file stands for several locks.
            const double ofLock = found->at("share_of_this_lock_percent");
            const double ofAll = ofLock * lock.at("share_of_lock_percent").get<double>() / 100;
            const double share = site.at("share_percent");
            const double ofListed = found->value("share_of_listed_sites_percent", -1.0);
            if (std::abs(share - ofLock) > tolerance_ && std::abs(share - ofAll) > tolerance_
                && std::abs(share - ofListed) > tolerance_)
                differ(fmt::format(
                    "{}: {} is right, found {}", site.at("name").get<std::string>(), share, ofLock));
        }
    }

    static bool sameFigure(const Json& right, const Json& found)
    {
        if (right.is_null() || found.is_null())
            return right.is_null() && found.is_null();
        const double a = right;
        return std::abs(a - found.get<double>()) <= 1e-4 * std::max(1.0, std::abs(a));
    }

    void checkCompare()
    {
        for (const Json& right : expected_.value("compare", Json::array())) {
            const Json* match = nullptr;
            for (const Json& comparison : report_.at("comparisons")) {
                for (const Json& row : comparison.at("rows")) {
                    const bool same = sameFigure(right.at("before"), row.at("before"))
                        && sameFigure(right.at("after"), row.at("after"));
                    if (same)
                        match = &row;
                }
            }
            const std::string what = right.at("what");
            if (match == nullptr)
                differ("comparison is missing: " + what);
            else if (right.contains("change_percent"))
                near(what, right.at("change_percent").get<double>(), match->value("change_percent", 1e9),
                    tolerance_);
        }
    }

    const Json* countersAt(size_t index) const
    {
        for (const Json& section : report_.at("sections")) {
            if (section.at("kind") == "counters" && index-- == 0)
                return &section;
        }
        static const Json kNone = Json::object();
        return &kNone;
    }

    void checkCounters(const Json& right, const Json& section, const std::string& where)
    {
        if (!section.contains("counters")) {
            differ(where + " is missing");
            return;
        }
        const Json& found = section.at("counters");
        equal(where + ": rows", right.at("rows").get<uint64_t>(), found.at("rows").get<uint64_t>());
        equal(where + ": columns", right.at("columns").dump(), found.at("columns").dump());
        for (const char* key : {"sy_mean_percent", "sy_mean_without_first_percent"}) {
            if (right.contains(key) != found.contains(key))
                differ(fmt::format("{}: {} is {}", where, key, right.contains(key) ? "missing" : "given"));
            else if (right.contains(key))
                near(where + ": " + key, right.at(key).get<double>(), found.at(key).get<double>(), 0.0001);
        }
    }

    void checkScaling(const Json& right, const Json& section, const std::string& where)
    {
        bool found = false;
        for (const Json& series : section.value("series", Json::array())) {
            const Json& points = series.at("points");
            bool same = points.size() == right.size();
            for (size_t i = 0; same && i < right.size(); ++i)
                same = sameFigure(right[i].at("n"), points[i].at("x"))
                    && sameFigure(right[i].at("value"), points[i].at("y"));
            found = found || same;
        }
        if (!found)
            differ(where + ": the series is missing");
    }

    void checkBySection()
    {
        if (!expected_.contains("by_section"))
            return;
        const auto sections = countedSections();
        const Json& right = expected_.at("by_section");
        for (size_t i = 0; i < right.size(); ++i) {
            const std::string where = fmt::format("section {} ({})", i + 1, right[i].value("label", ""));
            if (i >= sections.size()) {
                differ(where + " is missing");
                continue;
            }
            const Json& found = *sections[i];
            if (right[i].contains("vmstat"))
                checkCounters(right[i].at("vmstat"), found, where);
            else if (right[i].contains("scaling"))
                checkScaling(right[i].at("scaling"), found, where);
            else if (isProfile(found))
                checkProfile(right[i], found, where);
            else if (isLockTable(found))
                checkLockTable(right[i], found, where);
            else if (isWaitProfile(found))
                checkWaitProfile(right[i], found, where);
            else
                differ(where + " is no profile");
            checkPlainFigures(right[i], found, where);
        }
    }

    /// Stacks with the time that threads were off their processors.
    void checkWaitProfile(const Json& right, const Json& found, const std::string& where)
    {
        equal(where + ": stacks", right.at("stacks").get<uint64_t>(), found.at("rows").get<uint64_t>());
        near(where + ": total", right.at("total_us").get<double>(), found.at("total").get<double>() / 1000,
            0.0001);
        if (right.contains("waits"))
            equal(where + ": waits", right.at("waits").get<uint64_t>(), found.value("samples", uint64_t{0}));
        if (right.contains("wait_total_us"))
            near(where + ": waiting for locks", right.at("wait_total_us").get<double>(),
                found.at("contention_total").get<double>() / 1000, 0.0001);
    }

    /// Figures of one table of locks: its rows, its sums, and its first lock or thread.
    void checkLockTable(const Json& right, const Json& found, const std::string& where)
    {
        if (right.contains("rows"))
            equal(where + ": rows", right.at("rows").get<uint64_t>(), found.at("rows").get<uint64_t>());
        const Json& rows = !found.at("locks").empty() ? found.at("locks")
            : found.contains("waiters")               ? found.at("waiters")
            : found.contains("waited_for")            ? found.at("waited_for")
                                                      : found.at("locks");
        uint64_t waitNs = 0;
        uint64_t holdNs = 0;
        for (const Json& row : rows) {
            waitNs += row.value("value", uint64_t{0});
            holdNs += row.value("hold_total_ns", uint64_t{0});
        }
        if (right.contains("contentions")) // of the first lock
            equal(where + ": contentions", right.at("contentions").get<uint64_t>(),
                rows.at(0).at("contentions").get<uint64_t>());
        if (right.contains("total_ns"))
            equal(where + ": sum", right.at("total_ns").get<uint64_t>(), waitNs != 0 ? waitNs : holdNs);
        if (right.contains("wait_total_us"))
            near(where + ": wait", right.at("wait_total_us").get<double>(),
                static_cast<double>(waitNs) / 1000, 0.001);
        if (right.contains("top_share_percent") && !rows.empty())
            near(where + ": share of the first", right.at("top_share_percent").get<double>(),
                rows[0].at("share_of_lock_percent").get<double>(), tolerance_);
        for (const Json& lock : right.value("locks", Json::array())) {
            const auto names = spellingsOf(lock);
            const auto same = std::find_if(found.at("locks").begin(), found.at("locks").end(),
                [&](const Json& one) { return names.contains(spelling(one.at("name"))); });
            if (same == found.at("locks").end())
                differ(fmt::format("{}: {} is missing", where, lock.at("name").get<std::string>()));
            else
                checkLockFigures(lock, *same);
        }
    }

    /// Figures that tables of locks print of each lock.
    void checkLockFigures(const Json& right, const Json& lock)
    {
        const std::string name = right.at("name");
        if (right.contains("share_of_lock_time_percent"))
            near(name + ": share of lock time", right.at("share_of_lock_time_percent").get<double>(),
                lock.at("share_of_lock_percent").get<double>(), tolerance_);
        if (right.contains("wait_total_us")) {
            const double us = right.at("wait_total_us");
            // Derived sums are of rounded means: the tolerance is a part of them.
            near(name + ": wait", us, lock.at("value").get<double>() / 1000,
                std::max(0.001, us * tolerance_ / 100));
        }
        if (right.contains("cpu_percent"))
            near(name + ": of all processors", right.at("cpu_percent").get<double>(),
                lock.at("share_of_cpus_percent").get<double>(), 0.001);
        checkSites(right, lock);
    }

    void checkPlainFigures(const Json& right, const Json& found, const std::string& where)
    {
        const std::pair<const char*, const char*> kScaling[] = {{"throughput_first", "throughput_first"},
            {"throughput_last", "throughput_last"}, {"speedup_last", "speedup_last"},
            {"efficiency_last_percent", "efficiency_last_percent"}};
        for (const auto& [key, field] : kScaling) {
            if (!right.contains(key))
                continue;
            const double value = right.at(key);
            near(where + ": " + key, value, found.at("scaling").at(field).get<double>(),
                0.0001 * std::max(1.0, value));
        }
        if (right.contains("event"))
            equal(where + ": event", right.at("event").get<std::string>(), found.value("event", ""));
        if (right.contains("leaf_symbols"))
            equal(where + ": leaf symbols", right.at("leaf_symbols").dump(),
                Json(leaves(found.at("position").dump())).dump());
        if (right.contains("top_symbol"))
            equal(where + ": top symbol", right.at("top_symbol").get<std::string>(),
                found.at("top_symbols").at(0).at("symbol").get<std::string>());
    }

    const Json& expected_;
    const Json& report_;
    const Profile& profile_;
    double tolerance_;
    std::vector<const Json*> profiles_;
    std::vector<std::string> differences_;
};

} // namespace

std::vector<std::string> differences(const Json& expected, const Json& report, const Profile& profile)
{
    return Checker(expected, report, profile).run();
}

} // namespace whichlock::test
