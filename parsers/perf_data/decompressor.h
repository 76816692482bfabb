// SPDX-License-Identifier: GPL-3.0-or-later
// The zstd stream that runs through the COMPRESSED records of a file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace whichlock {

/// MT: one thread.
class Decompressor {
public:
    /// Takes whole records off decompressed bytes and returns how many bytes those were.
    using TakeFunction = std::function<size_t(std::string_view bytes)>;

    Decompressor();
    ~Decompressor();
    Decompressor(const Decompressor&) = delete;
    Decompressor& operator=(const Decompressor&) = delete;

    /// Decompresses the next piece of the stream and hands over what comes out, with what `take` left of
    /// earlier calls in front. An empty view, or what is wrong; after that the stream is of no use.
    std::string_view feed(std::string_view compressed, const TakeFunction& take);
    /// What `take` left at the end of the stream.
    std::string_view rest() const { return {buffer_.data(), filled_}; }
    uint64_t bytesIn() const { return bytesIn_; }
    uint64_t bytesOut() const { return bytesOut_; }

private:
    /// A record is below 64 KiB, so a buffer of this size always has room for more.
    static constexpr size_t kBufferBytes = 512 * 1024;
    /// No recording is compressed like this; files that are would keep a reader busy for ever.
    static constexpr uint64_t kMostRatio = 1000;
    static constexpr uint64_t kAlwaysAllowedBytes = 64 * 1024 * 1024;

    struct Stream; ///< of libzstd
    std::unique_ptr<Stream> stream_;
    std::vector<char> buffer_;
    size_t filled_ = 0;
    uint64_t bytesIn_ = 0;
    uint64_t bytesOut_ = 0;
    bool failed_ = false;
};

} // namespace whichlock
