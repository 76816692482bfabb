// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/input/source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/stat.h>

namespace whichlock {
namespace {

std::string reasonOf(int errorNumber)
{
    return std::generic_category().message(errorNumber);
}

class StreamSource final : public Source {
public:
    StreamSource(std::string name, std::FILE* stream, bool owned, uint64_t size)
        : Source(std::move(name))
        , stream_(stream)
        , owned_(owned)
        , size_(size)
    {
    }
    StreamSource(const StreamSource&) = delete;
    StreamSource& operator=(const StreamSource&) = delete;
    ~StreamSource() override
    {
        if (owned_)
            std::fclose(stream_);
    }
    uint64_t sizeBytes() const override { return size_; }
    bool isFile() const override { return owned_ && size_ != 0; }

private:
    Result<size_t> readSome(std::span<char> buffer) override
    {
        errno = 0;
        const size_t got = std::fread(buffer.data(), 1, buffer.size(), stream_);
        if (got == 0 && std::ferror(stream_) != 0)
            return fail(DiagnosticCode::ReadFailed, "reading stopped: " + reasonOf(errno), {.chain = name()});
        return got;
    }

    std::FILE* stream_;
    bool owned_;
    uint64_t size_;
};

class MemorySource final : public Source {
public:
    MemorySource(std::string name, std::string_view bytes, size_t pieceBytes)
        : Source(std::move(name), std::max<size_t>(pieceBytes, 1))
        , bytes_(bytes)
    {
    }
    uint64_t sizeBytes() const override { return bytes_.size(); }

private:
    Result<size_t> readSome(std::span<char> buffer) override
    {
        const size_t count = std::min(buffer.size(), bytes_.size() - at_);
        std::copy_n(bytes_.data() + at_, count, buffer.data());
        at_ += count;
        return count;
    }

    std::string_view bytes_;
    size_t at_ = 0;
};

} // namespace

Result<std::unique_ptr<Source>> Source::openFile(const std::string& path)
{
    struct stat info { };
    if (::stat(path.c_str(), &info) != 0)
        return fail(DiagnosticCode::FileUnreadable, "cannot be opened: " + reasonOf(errno), {.chain = path});
    if (S_ISDIR(info.st_mode))
        return fail(DiagnosticCode::NotAFile, "is a directory, not a file", {.chain = path});
    std::FILE* stream = std::fopen(path.c_str(), "rb");
    if (stream == nullptr)
        return fail(DiagnosticCode::FileUnreadable, "cannot be opened: " + reasonOf(errno), {.chain = path});
    std::setvbuf(stream, nullptr, _IONBF, 0); // readers bring buffers of their own
    const auto size = S_ISREG(info.st_mode) ? static_cast<uint64_t>(info.st_size) : 0;
    return std::make_unique<StreamSource>(path, stream, true, size);
}

std::unique_ptr<Source> Source::fromStream(std::string name, std::FILE* stream)
{
    return std::make_unique<StreamSource>(std::move(name), stream, false, 0);
}

std::unique_ptr<Source> Source::fromMemory(std::string name, std::string_view bytes, size_t pieceBytes)
{
    return std::make_unique<MemorySource>(std::move(name), bytes, pieceBytes);
}

Result<std::string_view> Source::head()
{
    if (!headRead_) {
        headRead_ = true;
        head_.resize(kHeadBytes);
        size_t filled = 0;
        while (filled < kHeadBytes) {
            auto got = readSome(std::span(head_).subspan(filled));
            if (!got) {
                head_.resize(filled);
                return tl::make_unexpected(got.error());
            }
            if (*got == 0)
                break;
            filled += *got;
        }
        head_.resize(filled);
    }
    return std::string_view(head_);
}

Result<size_t> Source::read(std::span<char> buffer)
{
    if (stopped_)
        return size_t{0};
    buffer = buffer.first(std::min(buffer.size(), pieceBytes_));
    size_t count = 0;
    if (headDelivered_ < head_.size()) {
        count = std::min(buffer.size(), head_.size() - headDelivered_);
        std::copy_n(head_.data() + headDelivered_, count, buffer.data());
        headDelivered_ += count;
    } else {
        auto got = readSome(buffer);
        if (!got)
            return got;
        count = *got;
    }
    bytesRead_ += count;
    if (progress_ && !progress_(bytesRead_, sizeBytes()))
        stopped_ = true;
    return count;
}

} // namespace whichlock
