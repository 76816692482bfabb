// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/perf_data/decompressor.h"

#include <cstring>

#include <zstd.h>

namespace whichlock {

struct Decompressor::Stream {
    ZSTD_DStream* stream = ZSTD_createDStream();

    Stream() = default;
    ~Stream() { ZSTD_freeDStream(stream); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
};

Decompressor::Decompressor()
    : stream_(std::make_unique<Stream>())
    , buffer_(kBufferBytes)
{
}

Decompressor::~Decompressor() = default;

std::string_view Decompressor::feed(std::string_view compressed, const TakeFunction& take)
{
    if (failed_)
        return "the zstd stream is broken since an earlier record";
    failed_ = true; // until all went well
    bytesIn_ += compressed.size();
    ZSTD_inBuffer in = {compressed.data(), compressed.size(), 0};
    while (true) {
        ZSTD_outBuffer out = {buffer_.data(), buffer_.size(), filled_};
        const size_t consumedBefore = in.pos;
        const size_t result =
            stream_->stream == nullptr ? 0 : ZSTD_decompressStream(stream_->stream, &out, &in);
        if (stream_->stream == nullptr || ZSTD_isError(result) != 0)
            return "the bytes are no valid zstd stream";
        const size_t produced = out.pos - filled_;
        filled_ = out.pos;
        bytesOut_ += produced;
        if (bytesOut_ > kAlwaysAllowedBytes && bytesOut_ / kMostRatio > bytesIn_)
            return "it grows to more than a thousand times its size";
        const size_t taken = take(rest());
        filled_ -= taken;
        std::memmove(buffer_.data(), buffer_.data() + taken, filled_);
        if (filled_ == buffer_.size())
            return "what comes out are no records";
        // Room that was left means that nothing more comes of what went in.
        if (in.pos == in.size && out.pos < out.size)
            break;
        if (produced == 0 && in.pos == consumedBefore)
            break;
    }
    failed_ = false;
    return {};
}

} // namespace whichlock
