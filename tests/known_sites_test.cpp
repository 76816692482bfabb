// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/locks/known_sites.h"

#include "analyzer/locks/embedded_tables.h"
#include "analyzer/locks/normalise.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace whichlock {

namespace {

using Names = std::set<std::string_view>;

Names locksOf(std::string_view function, std::string_view version, std::string_view arch = "")
{
    Context context;
    if (!version.empty())
        context.era = Era::of(KernelVersion::parse(version).value());
    context.arch = arch;
    Names locks;
    for (const KnownSite* site : KnownSites::builtIn().find(function, context))
        locks.insert(site->lock);
    return locks;
}

} // namespace

TEST(BuiltInSites, allParseAndAreSound)
{
    const auto parsed = KnownSites::parse("known_sites.tsv", embeddedKnownSites());
    ASSERT_TRUE(parsed) << toString(parsed.error().position) << ": " << parsed.error().message;
    EXPECT_GE(parsed->rows().size(), 50U);
    std::set<std::tuple<std::string_view, std::string_view, std::string>> seen;
    for (const KnownSite& site : parsed->rows()) {
        EXPECT_TRUE(site.era.valid()) << site.function;
        EXPECT_TRUE(site.source.ends_with(".c")) << site.function;
        EXPECT_EQ(normalisedView(site.function), site.function);
        const std::string since = site.era.since ? toString(*site.era.since) : std::string();
        // Two rows of one function and lock may differ in processor: then the source differs too.
        EXPECT_TRUE(seen.emplace(site.function, site.lock, since + std::string(site.source)).second)
            << site.function;
    }
}

TEST(BuiltInSites, holdInEveryVersionTheyWereCheckedIn)
{
    for (const KnownSite& site : KnownSites::builtIn().rows()) {
        ASSERT_FALSE(site.versionsChecked.empty()) << site.function;
        std::string_view rest = site.versionsChecked;
        while (!rest.empty()) {
            const size_t comma = rest.find(',');
            const auto version = KernelVersion::parse(rest.substr(0, comma));
            ASSERT_TRUE(version) << site.function;
            EXPECT_TRUE(site.era.contains(*version)) << site.function << ' ' << rest.substr(0, comma);
            rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
        }
    }
}

TEST(KnownSites, namesTheLockOfTheVersion)
{
    EXPECT_EQ(locksOf("file_move", "2.6.8"), Names{"files_lock"});
    EXPECT_EQ(locksOf("file_move", "3.10"), Names{});
    EXPECT_EQ(locksOf("atomic_dec_and_lock", "2.6.8"), (Names{"dcache_lock", "inode_lock"}));
    EXPECT_EQ(locksOf("rcu_check_quiescent_state", "2.6.8.1"), Names{"rcu_state.mutex"});
    EXPECT_EQ(locksOf("rcu_check_quiescent_state", "2.6.18"), Names{"rcu_ctrlblk.lock"});
    EXPECT_EQ(locksOf("find_get_page", "2.6.0"), Names{"mapping->page_lock"});
    EXPECT_EQ(locksOf("find_get_page", "2.6.11"), Names{"mapping->tree_lock"});
    EXPECT_EQ(locksOf("page_add_rmap", "2.5.28-3"),
        (Names{"page->flags PG_chainlock bit", "pte_chain_freelist_lock"}));
    EXPECT_EQ(locksOf("remote_llseek", "2.6.5"), Names{"kernel_flag"});
    EXPECT_EQ(locksOf("schedule", "2.4.17"), Names{"runqueue_lock"});
    EXPECT_EQ(locksOf("schedule", "2.6.5"), Names{"rq->lock"});
    EXPECT_EQ(locksOf("cache_alloc_refill", "2.6.32"), Names{"kmem_list3.list_lock"});
    EXPECT_EQ(locksOf("ip_route_output_key", "2.4.20"), Names{"rt_hash_table[].lock"});
    EXPECT_EQ(locksOf("ip_route_output_key", "2.6.18"), Names{});
}

TEST(KnownSites, filtersByProcessorWhenItIsKnown)
{
    EXPECT_EQ(locksOf("trampoline_probe_handler", "2.6.16.5", "x86_64"), Names{"kretprobe_lock"});
    EXPECT_EQ(locksOf("trampoline_probe_handler", "2.6.16.5", ""), Names{"kretprobe_lock"});
    EXPECT_EQ(locksOf("trampoline_handler", "2.6.18", "ia64"), Names{});
    EXPECT_EQ(locksOf("trampoline_handler", "2.6.18", "i686"), Names{"kretprobe_lock"});
}

TEST(KnownSites, givesTheLocksOfAllErasWhenTheVersionIsUnknown)
{
    EXPECT_EQ(locksOf("schedule", ""), (Names{"runqueue_lock", "rq->lock"}));
    EXPECT_EQ(locksOf("no_such_function", ""), Names{});
}

} // namespace whichlock
