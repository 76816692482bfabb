// SPDX-License-Identifier: GPL-3.0-or-later
// However the work is divided, the profile is the same: random streams of records go to one builder, and
// divided at random to several ones whose profiles are merged in random order.
#include "analyzer/model/profile_builder.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <random>

namespace whichlock {
namespace {

class Random {
public:
    explicit Random(uint32_t seed)
        : engine_(seed)
    {
    }

    /// 0 .. below - 1
    size_t below(size_t limit) { return engine_() % limit; }
    bool oneIn(size_t chances) { return below(chances) == 0; }
    template <class Value> const Value& of(const std::vector<Value>& values)
    {
        return values[below(values.size())];
    }
    template <class Value> void shuffle(std::vector<Value>& values)
    {
        std::shuffle(values.begin(), values.end(), engine_);
    }

private:
    std::mt19937 engine_;
};

/// One piece of work that is done by one builder: a call, or calls that belong together.
using Work = std::function<void(ProfileBuilder&, SectionHandle)>;

struct SectionPlan {
    SectionRecord record;
    std::vector<Work> works;
};

struct InputPlan {
    std::string name;
    std::vector<SectionPlan> sections;
    std::vector<Work> works; ///< that belong to no section
    LoadedInput loaded;
};

/// What went in, counted beside the builders.
struct Sums {
    uint64_t weight = 0;
    uint64_t samples = 0;
    uint64_t rows = 0;
    uint64_t printedPpb = 0;
    uint64_t scores = 0;
    uint64_t diagnostics = 0;
    uint64_t tableRows = 0;
    uint64_t counterRows = 0;
};

const std::vector<std::string>& symbols()
{
    static const std::vector<std::string> kSymbols = {"schedule", "_raw_spin_lock", "do_IRQ", "", "main",
        "std::map<int, int>::find(int const&)", "[unknown]", "a", "b"};
    return kSymbols;
}

class Plan {
public:
    explicit Plan(uint32_t seed)
        : random_(seed)
    {
        const size_t count = 1 + random_.below(3);
        for (size_t i = 0; i < count; ++i)
            addInput();
    }

    const std::vector<InputPlan>& inputs() const { return inputs_; }
    const Sums& sums() const { return sums_; }
    Random& random() { return random_; }

private:
    void addInput()
    {
        InputPlan& input = inputs_.emplace_back();
        // The same file may be named twice.
        input.name = random_.of(std::vector<std::string>{"mail.txt", "profile.txt", "vmstat.log"});
        const size_t tables = 1 + random_.below(4);
        for (size_t i = 0; i < tables; ++i)
            addTable(input, 10 * i);
        const size_t loose = random_.below(12);
        for (size_t i = 0; i < loose; ++i)
            input.works.push_back(looseWork(input));
        input.loaded.format = random_.of(std::vector<std::string>{"opreport", "vmstat", ""});
        input.loaded.confidence = Confidence::Likely;
        input.loaded.bytes = random_.below(100'000);
        input.loaded.failed = random_.oneIn(8);
        if (random_.oneIn(2)) {
            input.loaded.diagnostics.push_back(
                makeDiagnostic(DiagnosticCode::InvalidUtf8, "has bytes that are no UTF-8", position(input)));
            ++sums_.diagnostics;
        }
    }

    /// A table has one section, or one for each of its events, all at one place.
    void addTable(InputPlan& input, uint64_t line)
    {
        const size_t events = random_.oneIn(3) ? 2 + random_.below(2) : 1;
        const Position place{.chain = input.name, .line = line, .offset = 80 * line};
        for (size_t i = 0; i < events; ++i) {
            SectionPlan plan;
            plan.record.format = "opreport";
            plan.record.title = random_.of(std::vector<std::string>{"", "before", "after"});
            // The order of the columns is not that of the names.
            plan.record.event = events == 1 ? "cycles" : "event " + std::to_string(9 - i);
            plan.record.column = static_cast<unsigned>(i);
            plan.record.position = place;
            const size_t works = random_.below(40);
            const bool flat = random_.oneIn(2); // flat rows or call chains, never both
            for (size_t w = 0; w < works; ++w)
                plan.works.push_back(sectionWork(flat));
            addWholes(plan);
            input.sections.push_back(std::move(plan));
        }
    }

    Position position(const InputPlan& input)
    {
        const uint64_t line = 1 + random_.below(50);
        return {.chain = input.name, .line = line, .offset = 80 * line};
    }

    Work sectionWork(bool flat)
    {
        if (random_.oneIn(10)) {
            const std::string value = random_.of(std::vector<std::string>{"P4 / Xeon", "vmlinux-2.6.9"});
            return [value](ProfileBuilder& to, SectionHandle section) {
                to.fact(section, FactKind::Image, value);
                to.leftOut(section, {.samples = 2, .weight = 7, .untold = 1});
            };
        }
        return flat ? rowWork() : sampleWork();
    }

    Work rowWork()
    {
        const std::string symbol = random_.of(symbols());
        const std::string image = random_.of(std::vector<std::string>{"", "vmlinux", "libc.so"});
        std::optional<uint64_t> value;
        if (!random_.oneIn(4))
            value = random_.below(1'000'000);
        std::optional<Share> share;
        if (!value || random_.oneIn(3))
            share = Share{static_cast<int64_t>(random_.below(Share::kPercent))};
        sums_.weight += value.value_or(0);
        sums_.printedPpb += static_cast<uint64_t>(share.value_or(Share{}).ppb);
        ++sums_.rows;
        return [=](ProfileBuilder& to, SectionHandle section) {
            to.row(section, {.symbol = symbol, .image = image, .value = value, .share = share, .line = 1});
        };
    }

    Work sampleWork()
    {
        std::vector<std::pair<std::string, uint64_t>> frames;
        const size_t depth = random_.below(6);
        for (size_t i = 0; i < depth; ++i)
            frames.emplace_back(random_.of(symbols()), random_.oneIn(2) ? 16 : TextFrame::kNoOffset);
        const std::string comm = random_.of(std::vector<std::string>{"swapper", "java", ""});
        const int32_t pid = static_cast<int32_t>(random_.below(3)) - 1;
        const int32_t tid = pid + static_cast<int32_t>(random_.below(2));
        const int32_t cpu = static_cast<int32_t>(random_.below(3)) - 1;
        const uint64_t weight = 1 + random_.below(1'000'000);
        sums_.weight += weight;
        sums_.rows += depth;
        ++sums_.samples;
        return [=](ProfileBuilder& to, SectionHandle section) {
            std::vector<TextFrame> views;
            for (const auto& [symbol, offset] : frames)
                views.push_back({.symbol = symbol,
                    .object = offset == 16 ? "vmlinux" : "",
                    .symbolOffset = offset,
                    .inlined = symbol == "a"});
            to.sample(section,
                {.comm = comm,
                    .pid = pid,
                    .tid = tid,
                    .cpu = cpu,
                    .timeNs = std::nullopt,
                    .weight = weight,
                    .frames = views});
        };
    }

    /// What stands in a section once: its total, its counters, its benchmark table.
    void addWholes(SectionPlan& plan)
    {
        if (random_.oneIn(3)) {
            const uint64_t total = random_.below(1'000'000'000);
            plan.works.push_back(
                [total](ProfileBuilder& to, SectionHandle section) { to.total(section, total); });
        }
        if (random_.oneIn(3)) {
            std::vector<std::vector<int64_t>> rows(1 + random_.below(4), {1, 2, kNoCounter});
            for (auto& row : rows)
                row[0] = static_cast<int64_t>(random_.below(100));
            sums_.counterRows += rows.size();
            plan.works.push_back([rows](ProfileBuilder& to, SectionHandle section) {
                to.counterColumns(section, std::vector<std::string_view>{"r", "b", "sy"});
                for (const auto& row : rows)
                    to.counterRow(section, row);
            });
        }
        if (random_.oneIn(3)) {
            TableRecord table;
            table.columns = {"time", "user"};
            table.rows.push_back({"stock", {FixedPoint{1}, std::nullopt}, 3});
            table.rows.push_back({"patched", {FixedPoint{static_cast<int64_t>(random_.below(99))}, {}}, 4});
            sums_.tableRows += 2;
            plan.works.push_back(
                [table](ProfileBuilder& to, SectionHandle section) { to.table(section, table); });
        }
    }

    Work looseWork(const InputPlan& input)
    {
        const Position place = position(input);
        if (random_.oneIn(3)) {
            ScoreRecord score;
            score.name = random_.of(std::vector<std::string>{"score", "ops"});
            score.value = FixedPoint::fromInteger(static_cast<int64_t>(random_.below(3)));
            score.unit = random_.of(std::vector<std::string>{"", "ops/s"});
            score.heading = random_.of(std::vector<std::string>{"", "stock", "patched"});
            score.position = {.chain = input.name, .line = 1 + random_.below(2), .offset = 80};
            ++sums_.scores;
            return [score](ProfileBuilder& to, SectionHandle) { to.score(score); };
        }
        if (random_.oneIn(2)) {
            const std::string name = random_.of(std::vector<std::string>{"dcache_lock", "BKL"});
            return [=](ProfileBuilder& to, SectionHandle) { to.inputFact(FactKind::Mention, name, place); };
        }
        Diagnostic diagnostic = makeDiagnostic(DiagnosticCode::RowUnreadable,
            random_.of(std::vector<std::string>{"a row was skipped", "two rows were skipped"}), place);
        diagnostic.count = 1 + random_.below(3);
        sums_.diagnostics += diagnostic.count;
        return [diagnostic](ProfileBuilder& to, SectionHandle) { to.diagnostic(diagnostic); };
    }

    Random random_;
    std::vector<InputPlan> inputs_;
    Sums sums_;
};

/// Runs the plan; `shardOf` says who does a piece of work.
std::vector<Profile> run(const Plan& plan, size_t shards, const std::function<size_t()>& shardOf)
{
    std::vector<ProfileBuilder> builders(shards);
    for (ProfileBuilder& builder : builders)
        builder.tellApart(true, true);
    for (const InputPlan& input : plan.inputs()) {
        for (ProfileBuilder& builder : builders)
            builder.beginInput(input.name);
        for (const SectionPlan& section : input.sections) {
            std::vector<std::optional<SectionHandle>> handles(shards);
            const auto handleOf = [&](size_t shard) {
                if (!handles[shard])
                    handles[shard] = builders[shard].section(section.record);
                return *handles[shard];
            };
            handleOf(shardOf());
            for (const Work& work : section.works) {
                const size_t shard = shardOf();
                work(builders[shard], handleOf(shard));
            }
        }
        for (const Work& work : input.works)
            work(builders[shardOf()], {});
        builders[shardOf()].finishInput(input.loaded);
    }
    std::vector<Profile> profiles;
    for (ProfileBuilder& builder : builders)
        profiles.push_back(builder.freeze());
    return profiles;
}

/// Merges in random order, all at once or two by two.
Profile mergedAtRandom(std::vector<Profile> profiles, Random& random)
{
    const bool pairwise = random.oneIn(2);
    while (profiles.size() > 1) {
        random.shuffle(profiles);
        ProfileBuilder builder;
        const size_t count = pairwise ? 2 : profiles.size();
        for (size_t i = 0; i < count; ++i) {
            builder.merge(profiles.back());
            profiles.pop_back();
        }
        profiles.push_back(builder.freeze());
    }
    return std::move(profiles.front());
}

Sums sumsOf(const Profile& profile)
{
    Sums sums;
    for (const Section& section : profile.sections) {
        sums.rows += section.rows;
        sums.samples += section.samples;
        sums.counterRows += section.counterRows.size();
        for (const Cell& cell : section.cells) {
            sums.weight += cell.weight;
            sums.printedPpb += static_cast<uint64_t>(cell.printed.ppb);
        }
        for (const TableRecord& table : section.tables)
            sums.tableRows += table.rows.size();
    }
    sums.scores = profile.scores.size();
    for (const Diagnostic& one : profile.diagnostics)
        sums.diagnostics += one.count;
    return sums;
}

void expectSums(const Sums& right, const Sums& found)
{
    EXPECT_EQ(found.weight, right.weight);
    EXPECT_EQ(found.samples, right.samples);
    EXPECT_EQ(found.rows, right.rows);
    EXPECT_EQ(found.printedPpb, right.printedPpb);
    EXPECT_EQ(found.scores, right.scores);
    EXPECT_EQ(found.diagnostics, right.diagnostics);
    EXPECT_EQ(found.tableRows, right.tableRows);
    EXPECT_EQ(found.counterRows, right.counterRows);
}

class Sharding : public testing::TestWithParam<uint32_t> { };

TEST_P(Sharding, givesTheBytesOfOneBuilder)
{
    Plan plan(GetParam());
    const std::vector<Profile> whole = run(plan, 1, [] { return size_t{0}; });
    ASSERT_EQ(whole.front().check(), "");
    expectSums(plan.sums(), sumsOf(whole.front()));

    Random& random = plan.random();
    const size_t shards = 1 + random.below(7);
    std::vector<Profile> parts = run(plan, shards, [&] { return random.below(shards); });
    for (const Profile& part : parts)
        EXPECT_EQ(part.check(), "");
    const Profile merged = mergedAtRandom(std::move(parts), random);
    EXPECT_EQ(merged.check(), "");
    expectSums(plan.sums(), sumsOf(merged));
    EXPECT_TRUE(merged.canonicalBytes() == whole.front().canonicalBytes());
}

INSTANTIATE_TEST_SUITE_P(Seeds, Sharding, testing::Range(1U, 201U));

Profile profileOf(const std::function<void(ProfileBuilder&)>& fill)
{
    ProfileBuilder builder;
    builder.beginInput("a.txt");
    fill(builder);
    return builder.freeze();
}

SectionRecord recordAt(uint64_t line, std::string event = "cycles", unsigned column = 0)
{
    SectionRecord record;
    record.event = std::move(event);
    record.column = column;
    record.position = {.chain = "a.txt", .line = line, .offset = line};
    return record;
}

TEST(ProfileMerge, keepsTheColumnsOfATableInTheirOrder)
{
    const auto both = [](unsigned first, unsigned second) {
        return profileOf([=](ProfileBuilder& builder) {
            for (const unsigned column : {first, second})
                builder.section(recordAt(3, column == 0 ? "z first" : "a second", column));
        });
    };
    for (const Profile& profile : {both(0, 1), both(1, 0)}) {
        ASSERT_EQ(profile.sections.size(), 2U);
        EXPECT_EQ(profile.sections[0].record.event, "z first");
        EXPECT_EQ(profile.sections[1].record.event, "a second");
    }
}

TEST(ProfileMerge, takesTablesAndCountersFromWhicheverShardHasThem)
{
    const Profile empty = profileOf([](ProfileBuilder& builder) { builder.section(recordAt(1)); });
    const Profile filled = profileOf([](ProfileBuilder& builder) {
        const SectionHandle section = builder.section(recordAt(1));
        builder.counterColumns(section, std::vector<std::string_view>{"r", "b"});
        builder.counterRow(section, std::vector<int64_t>{1, 2});
        TableRecord table;
        table.columns = {"time"};
        builder.table(section, table);
        builder.total(section, 7);
    });
    for (const bool emptyFirst : {true, false}) {
        ProfileBuilder builder;
        builder.merge(emptyFirst ? empty : filled);
        builder.merge(emptyFirst ? filled : empty);
        const Profile merged = builder.freeze();
        ASSERT_EQ(merged.sections.size(), 1U);
        EXPECT_EQ(merged.sections[0].counterColumns, (std::vector<std::string>{"r", "b"}));
        EXPECT_EQ(merged.sections[0].counterRows.size(), 1U);
        EXPECT_EQ(merged.sections[0].tables.size(), 1U);
        EXPECT_EQ(merged.sections[0].total, 7U);
    }
}

TEST(ProfileMerge, keepsInputsOfDifferentNamesApart)
{
    const auto named = [](const char* name) {
        ProfileBuilder builder;
        builder.beginInput(name);
        SectionRecord record;
        record.position = {.chain = name, .line = 1, .offset = 0};
        builder.row(builder.section(record), {.symbol = "f", .value = 1});
        builder.inputFact(FactKind::Host, name, record.position);
        return builder.freeze();
    };
    ProfileBuilder builder;
    builder.merge(named("a.txt"));
    builder.merge(named("b.txt"));
    const Profile merged = builder.freeze();
    ASSERT_EQ(merged.inputs.size(), 2U);
    ASSERT_EQ(merged.sections.size(), 2U);
    for (const Section& section : merged.sections) {
        EXPECT_EQ(merged.inputs[section.input].name, section.record.position.chain);
        ASSERT_EQ(merged.inputs[section.input].facts.size(), 1U);
        EXPECT_EQ(merged.inputs[section.input].facts[0].value, section.record.position.chain);
    }
}

TEST(ProfileMerge, leavesTheInputThatIsBeingReadAsItWas)
{
    const Profile other = profileOf([](ProfileBuilder&) {});
    ProfileBuilder builder;
    builder.beginInput("a.txt");
    builder.beginInput("b.txt");
    builder.merge(other);
    builder.section(recordAt(1));
    EXPECT_EQ(builder.freeze().sections.at(0).input, 1U);
}

TEST(ProfileSums, thatDoNotFitAreReportedAndStayConsistent)
{
    const auto half = [] {
        return profileOf([](ProfileBuilder& builder) {
            const SectionHandle section = builder.section(recordAt(1));
            builder.row(section, {.symbol = "f", .value = UINT64_MAX / 2 + 1});
            builder.row(section, {.symbol = "g", .value = 5});
        });
    };
    ProfileBuilder builder;
    builder.merge(half());
    builder.merge(half());
    const Profile merged = builder.freeze();
    EXPECT_EQ(merged.check(), "");
    EXPECT_EQ(merged.sections.at(0).rows, 4U);
    ASSERT_EQ(merged.diagnostics.size(), 1U);
    EXPECT_EQ(merged.diagnostics[0].code, DiagnosticCode::NumberOverflow);
}

TEST(ProfileSums, ofPrintedSharesStopAtTheLargestNumber)
{
    const Profile profile = profileOf([](ProfileBuilder& builder) {
        const SectionHandle section = builder.section(recordAt(1));
        for (int i = 0; i < 3; ++i)
            builder.row(section, {.symbol = "f", .share = Share{INT64_MAX - 5}});
    });
    EXPECT_EQ(profile.sections.at(0).cells.at(0).printed.ppb, INT64_MAX);
}

TEST(CanonicalBytes, differForContentThatDiffers)
{
    const auto bytesOf = [](const std::function<void(ProfileBuilder&)>& fill) {
        return profileOf(fill).canonicalBytes();
    };
    const std::vector<std::function<void(ProfileBuilder&)>> kContents = {
        [](ProfileBuilder&) {},
        [](ProfileBuilder& b) {
            b.score({"score", {}, "", "", {}});
        },
        [](ProfileBuilder& b) {
            b.score({"score", {}, "ops/s", "", {}});
        },
        [](ProfileBuilder& b) {
            b.counterRow(b.section(recordAt(1)), std::vector<int64_t>{1, 2});
        },
        [](ProfileBuilder& b) {
            const SectionHandle section = b.section(recordAt(1));
            b.counterRow(section, std::vector<int64_t>{1});
            b.counterRow(section, std::vector<int64_t>{2});
        },
        [](ProfileBuilder& b) {
            LoadedInput loaded;
            loaded.failed = true;
            b.finishInput(loaded);
        },
        [](ProfileBuilder& b) {
            LoadedInput loaded;
            loaded.confidence = Confidence::Weak;
            b.finishInput(loaded);
        },
        [](ProfileBuilder& b) { b.section(recordAt(1, "cycles", 1)); },
        [](ProfileBuilder& b) { b.section(recordAt(1, "cycles", 2)); },
    };
    for (size_t i = 0; i < kContents.size(); ++i) {
        for (size_t k = 0; k < i; ++k)
            EXPECT_FALSE(bytesOf(kContents[i]) == bytesOf(kContents[k])) << i << " and " << k;
    }
}

} // namespace
} // namespace whichlock
