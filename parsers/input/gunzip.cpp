// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/input/gunzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>

namespace whichlock {
namespace {

/// The state of zlib, given back at the end. MT: one thread.
class Inflater {
public:
    explicit Inflater(std::string_view packed)
    {
        constexpr int kGzip = 16 + MAX_WBITS;
        ready_ = ::inflateInit2(&stream_, kGzip) == Z_OK;
        rest_ = packed;
    }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;
    ~Inflater()
    {
        if (ready_)
            ::inflateEnd(&stream_);
    }

    /// Unpacks into `buffer`; returns how many bytes came out. `end` tells why there are no more.
    size_t fill(char* buffer, size_t size, Unpacked& end, bool& ended)
    {
        if (!ready_) {
            end = Unpacked::Damaged;
            ended = true;
            return 0;
        }
        stream_.next_out = reinterpret_cast<Bytef*>(buffer);
        stream_.avail_out = static_cast<uInt>(size);
        while (stream_.avail_out != 0 && !ended)
            step(end, ended);
        return size - stream_.avail_out;
    }

private:
    void step(Unpacked& end, bool& ended)
    {
        constexpr size_t kMostAtOnce = 1U << 30U;
        const size_t given = std::min(rest_.size(), kMostAtOnce);
        // zlib does not write to what it reads.
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest_.data()));
        stream_.avail_in = static_cast<uInt>(given);
        const int result = ::inflate(&stream_, Z_NO_FLUSH);
        const size_t used = given - stream_.avail_in;
        rest_.remove_prefix(used);
        if (result == Z_STREAM_END) {
            ended = rest_.size() < 2 || !looksLikeGzip(rest_) || ::inflateReset(&stream_) != Z_OK;
        } else if (result == Z_BUF_ERROR || (result == Z_OK && given == 0)) {
            end = Unpacked::Cut;
            ended = true;
        } else if (result != Z_OK) {
            end = Unpacked::Damaged;
            ended = true;
        }
    }

    z_stream stream_{};
    bool ready_ = false;
    std::string_view rest_;
};

} // namespace

bool looksLikeGzip(std::string_view bytes)
{
    return bytes.starts_with("\x1f\x8b");
}

UnpackedBytes gunzip(std::string_view packed, size_t most)
{
    UnpackedBytes unpacked;
    Inflater inflater(packed);
    std::array<char, 64 * 1024> buffer;
    bool ended = false;
    while (!ended) {
        const size_t room = std::min(buffer.size(), most - unpacked.bytes.size());
        if (room == 0) {
            unpacked.end = Unpacked::TooLarge;
            break;
        }
        unpacked.bytes.append(buffer.data(), inflater.fill(buffer.data(), room, unpacked.end, ended));
    }
    return unpacked;
}

} // namespace whichlock
