// SPDX-License-Identifier: GPL-3.0-or-later
// Profiles of pprof as protocol buffers. The writer below follows the public description of the format and
// shares nothing with the reader.
#include "parsers/input/gunzip.h"
#include "parsers/pprof/pprof_reader.h"
#include "tests/support/recording_sink.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <initializer_list>

namespace whichlock::test {
namespace {

std::string varint(uint64_t value)
{
    std::string bytes;
    for (; value >= 0x80; value /= 128)
        bytes += static_cast<char>(value % 128 + 128);
    return bytes + static_cast<char>(value);
}

std::string number(unsigned field, uint64_t value)
{
    return varint(field * 8) + varint(value);
}

std::string block(unsigned field, const std::string& bytes)
{
    return varint(field * 8 + 2) + varint(bytes.size()) + bytes;
}

std::string packed(unsigned field, std::initializer_list<uint64_t> values)
{
    std::string bytes;
    for (const uint64_t value : values)
        bytes += varint(value);
    return block(field, bytes);
}

/// A profile with one function a location; location n is function n, whose name is string n.
class Writer {
public:
    Writer(std::initializer_list<std::pair<const char*, const char*>> types,
        std::initializer_list<const char*> functions)
    {
        strings_.emplace_back();
        for (const char* name : functions)
            strings_.emplace_back(name);
        for (const auto& [type, unit] : types) {
            head_ += block(1, number(1, strings_.size()) + number(2, strings_.size() + 1));
            strings_.emplace_back(type);
            strings_.emplace_back(unit);
        }
        for (uint64_t id = 1; id <= functions.size(); ++id) {
            tail_ += block(
                4, number(1, id) + number(3, 0x1000 + id) + block(4, number(1, id) + number(2, 10 + id)));
            tail_ += block(5, number(1, id) + number(2, id));
        }
    }

    Writer& sample(std::initializer_list<uint64_t> locations, std::initializer_list<uint64_t> values)
    {
        head_ += block(2, packed(1, locations) + packed(2, values));
        return *this;
    }
    Writer& raw(const std::string& bytes)
    {
        tail_ += bytes;
        return *this;
    }

    std::string bytes() const
    {
        std::string all = head_ + tail_;
        for (const std::string& text : strings_)
            all += block(6, text);
        return all;
    }

private:
    std::string head_;
    std::string tail_;
    std::vector<std::string> strings_;
};

std::string gzipped(const std::string& bytes)
{
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string out(bytes.size() + 1024, '\0');
    std::string in = bytes;
    stream.next_in = reinterpret_cast<Bytef*>(in.data());
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

LoadedInput readBytes(const std::string& bytes, RecordingSink& sink)
{
    const auto source = Source::fromMemory("profile.pb.gz", bytes);
    return loadPprof(*source, sink);
}

Writer mutexProfile()
{
    return std::move(Writer({{"contentions", "count"}, {"delay", "nanoseconds"}},
        {"sync.(*Mutex).Unlock", "main.put", "main.main"})
                         .sample({1, 2, 3}, {7, 9000})
                         .sample({1, 3}, {1, 1000}));
}

bool has(const std::vector<Diagnostic>& diagnostics, DiagnosticCode code)
{
    return std::any_of(
        diagnostics.begin(), diagnostics.end(), [&](const Diagnostic& one) { return one.code == code; });
}

TEST(Pprof, readsAMutexProfileOfGoAsPlacesOfHolders)
{
    for (const std::string& bytes : {mutexProfile().bytes(), gzipped(mutexProfile().bytes())}) {
        ASSERT_TRUE(looksLikePprof(bytes));
        RecordingSink sink;
        const LoadedInput loaded = readBytes(bytes, sink);
        EXPECT_FALSE(loaded.failed);
        EXPECT_EQ(loaded.format, "pprof");
        EXPECT_TRUE(loaded.diagnostics.empty());
        ASSERT_EQ(sink.sections.size(), 1U);
        const KeptSection& section = sink.sections[0];
        EXPECT_EQ(section.record.kind, SectionKind::WaitProfile);
        EXPECT_EQ(section.record.waits, WaitStacks::Holders);
        ASSERT_EQ(section.samples.size(), 2U);
        EXPECT_EQ(section.samples[0].weight, 9000U);
        ASSERT_EQ(section.samples[0].frames.size(), 3U);
        EXPECT_EQ(section.samples[0].frames[0].symbol, "sync.(*Mutex).Unlock");
        EXPECT_EQ(section.samples[0].frames[2].symbol, "main.main");
    }
}

TEST(Pprof, readsBlockAndProcessorProfiles)
{
    RecordingSink block;
    readBytes(Writer({{"contentions", "count"}, {"delay", "nanoseconds"}},
                  {"sync.(*Mutex).Lock", "runtime.chanrecv1", "main.main"})
                  .sample({1, 3}, {1, 5})
                  .sample({2, 3}, {1, 6})
                  .bytes(),
        block);
    ASSERT_EQ(block.sections.size(), 1U);
    EXPECT_EQ(block.sections[0].record.waits, WaitStacks::OffCpu) << "channels are in it, too";
    RecordingSink cpu;
    readBytes(
        Writer({{"samples", "count"}, {"cpu", "microseconds"}}, {"main.f"}).sample({1}, {3, 30}).bytes(),
        cpu);
    ASSERT_EQ(cpu.sections.size(), 1U);
    EXPECT_EQ(cpu.sections[0].record.kind, SectionKind::CpuProfile);
    EXPECT_EQ(cpu.sections[0].samples.at(0).weight, 30'000U);
}

TEST(Pprof, takesInlinedFunctionsAndAddressesWithoutNames)
{
    // Location 9: two functions, the inner one inlined; location 8 has an address only.
    const std::string more = block(4,
                                 number(1, 9) + number(3, 0x99) + block(4, number(1, 1) + number(2, 5))
                                     + block(4, number(1, 2) + number(2, 6)))
        + block(4, number(1, 8) + number(3, 0xabc));
    RecordingSink sink;
    readBytes(Writer({{"samples", "count"}, {"cpu", "nanoseconds"}}, {"inner", "outer"})
                  .sample({9, 8, 77}, {1, 4})
                  .raw(more)
                  .bytes(),
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    const auto& frames = sink.sections[0].samples.at(0).frames;
    ASSERT_EQ(frames.size(), 4U);
    EXPECT_EQ(frames[0].symbol, "inner");
    EXPECT_TRUE(frames[0].inlined);
    EXPECT_EQ(frames[1].symbol, "outer");
    EXPECT_FALSE(frames[1].inlined);
    EXPECT_EQ(frames[2].symbol, "0xabc");
    EXPECT_EQ(frames[3].symbol, "[unknown]") << "there is no such location";
}

TEST(Pprof, saysWhatAProfileIsOfThatHasNoTime)
{
    RecordingSink sink;
    const LoadedInput loaded =
        readBytes(Writer({{"inuse_space", "bytes"}}, {"main.f"}).sample({1}, {4096}).bytes(), sink);
    EXPECT_TRUE(loaded.failed);
    ASSERT_EQ(loaded.diagnostics.size(), 1U);
    EXPECT_EQ(loaded.diagnostics[0].code, DiagnosticCode::KnownButUnread);
    EXPECT_NE(loaded.diagnostics[0].message.find("inuse_space/bytes"), std::string::npos);
}

TEST(Pprof, skipsValuesBelowZeroAndDamagedSamples)
{
    RecordingSink sink;
    readBytes(Writer({{"samples", "count"}, {"cpu", "nanoseconds"}}, {"main.f"})
                  .sample({1}, {1, static_cast<uint64_t>(-5)})
                  .sample({1}, {1})
                  .sample({1}, {1, 6})
                  .bytes(),
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].samples.size(), 1U);
    EXPECT_TRUE(has(sink.diagnostics, DiagnosticCode::NumberOverflow));
    EXPECT_TRUE(has(sink.diagnostics, DiagnosticCode::RecordDamaged));
}

TEST(Pprof, survivesCutsAndChangesOfAnyByte)
{
    const std::string plain = mutexProfile().bytes();
    for (const std::string& bytes : {plain, gzipped(plain)}) {
        for (size_t cut = 0; cut < bytes.size(); ++cut) {
            RecordingSink sink;
            const LoadedInput loaded = readBytes(bytes.substr(0, cut), sink);
            EXPECT_TRUE(loaded.failed || !loaded.diagnostics.empty() || bytes == plain) << cut;
            for (const int change : {0x01, 0x80, 0xff}) {
                std::string changed = bytes;
                changed[cut] = static_cast<char>(changed[cut] ^ change);
                RecordingSink other;
                readBytes(changed, other);
            }
        }
    }
}

TEST(Pprof, isNotSeenInTextsAndOtherPackedFiles)
{
    EXPECT_FALSE(looksLikePprof(""));
    EXPECT_FALSE(looksLikePprof("\n\n some text\n"));
    EXPECT_FALSE(looksLikePprof("PERFILE2"));
    EXPECT_FALSE(looksLikePprof(gzipped("a;b;c 1\n")));
}

TEST(Gunzip, stopsAtTheLimit)
{
    const std::string packedZeros = gzipped(std::string(1'000'000, '\0'));
    const UnpackedBytes unpacked = gunzip(packedZeros, 1000);
    EXPECT_EQ(unpacked.bytes.size(), 1000U);
    EXPECT_EQ(unpacked.end, Unpacked::TooLarge);
    EXPECT_EQ(gunzip(packedZeros, 2'000'000).bytes.size(), 1'000'000U);
    EXPECT_EQ(gunzip(packedZeros.substr(0, 100), 2'000'000).end, Unpacked::Cut);
}

} // namespace
} // namespace whichlock::test
