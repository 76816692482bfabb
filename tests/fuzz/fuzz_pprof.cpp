// SPDX-License-Identifier: GPL-3.0-or-later
// Profiles of pprof, packed or not, and what a report's profile makes of them.
#include "analyzer/model/profile_builder.h"
#include "parsers/pprof/pprof_reader.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    using namespace whichlock;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    looksLikePprof(bytes);
    const auto source = Source::fromMemory("profile.pb.gz", bytes);
    ProfileBuilder builder;
    builder.beginInput(source->name());
    builder.finishInput(loadPprof(*source, builder));
    if (!builder.freeze().check().empty())
        std::abort(); // the way in which a fuzzer is told
    return 0;
}
