// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/input/mapped_file.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace whichlock {
namespace {

tl::unexpected<Error> systemFailure(const std::string& path)
{
    return fail(DiagnosticCode::FileUnreadable, std::generic_category().message(errno), {.chain = path});
}

} // namespace

Result<MappedFile> MappedFile::open(const std::string& path)
{
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return systemFailure(path);
    struct stat status = {};
    MappedFile mapped;
    Result<MappedFile> result = tl::make_unexpected(Error());
    if (fstat(file, &status) != 0) {
        result = systemFailure(path);
    } else if (!S_ISREG(status.st_mode)) {
        result = fail(DiagnosticCode::NotAFile, "it is no regular file", {.chain = path});
    } else if (status.st_size == 0) {
        result = std::move(mapped);
    } else {
        const size_t size = static_cast<size_t>(status.st_size);
        void* const data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (data == MAP_FAILED) {
            result = systemFailure(path);
        } else {
            madvise(data, size, MADV_WILLNEED); // only a hint
            mapped.data_ = static_cast<const char*>(data);
            mapped.size_ = size;
            result = std::move(mapped);
        }
    }
    close(file);
    return result;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr))
    , size_(std::exchange(other.size_, 0))
{
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept
{
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

/// Piece by piece: as long as one is unmapped, no other thread gets memory.
MappedFile::~MappedFile()
{
    constexpr size_t kPieceBytes = size_t{4} << 20U;
    for (size_t at = 0; data_ != nullptr && at < size_; at += kPieceBytes)
        munmap(const_cast<char*>(data_) + at, std::min(kPieceBytes, size_ - at));
}

void willRead(std::string_view bytes)
{
    constexpr uintptr_t kPageBytes = 4096;
    constexpr int kPopulateRead =
        22; // MADV_POPULATE_READ; kernels before 5.14 refuse it, and nothing is lost
    const uintptr_t begin = reinterpret_cast<uintptr_t>(bytes.data()) & ~(kPageBytes - 1);
    const uintptr_t end = reinterpret_cast<uintptr_t>(bytes.data() + bytes.size());
    if (!bytes.empty())
        ::madvise(
            reinterpret_cast<void*>(begin), end - begin, kPopulateRead); // NOLINT(performance-no-int-to-ptr)
}

} // namespace whichlock
