// SPDX-License-Identifier: GPL-3.0-or-later
// Where bytes come from: a file, standard input, or memory (tests, fuzzers). Read once, front to back.
#pragma once

#include "parsers/result.h"

#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace whichlock {

/// Told after each piece that was read; returns false to stop reading (the input then ends there).
using ProgressFunction = std::function<bool(uint64_t bytesDone, uint64_t bytesTotal)>;

/// A stream of bytes with a name. MT: one thread.
class Source {
public:
    static constexpr size_t kHeadBytes = 64 * 1024;

    virtual ~Source() = default;

    /// Opens a regular file or named pipe; a directory or a missing file is an Error.
    static Result<std::unique_ptr<Source>> openFile(const std::string& path);
    /// Reads from an open stream that stays owned by the caller, for example stdin.
    static std::unique_ptr<Source> fromStream(std::string name, std::FILE* stream);
    /// Reads from memory that outlives the source, at most `pieceBytes` at a time.
    static std::unique_ptr<Source> fromMemory(
        std::string name, std::string_view bytes, size_t pieceBytes = SIZE_MAX);

    const std::string& name() const { return name_; }
    /// Whether name() is the path of a regular file.
    virtual bool isFile() const { return false; }
    /// Size if it is known beforehand, else 0.
    virtual uint64_t sizeBytes() const = 0;

    /// The first kHeadBytes of the input (fewer if it is shorter); they are delivered again by read().
    Result<std::string_view> head();
    /// Fills the front of `buffer`; 0 means the end. Calls the progress function.
    Result<size_t> read(std::span<char> buffer);
    uint64_t bytesRead() const { return bytesRead_; }
    void setProgress(ProgressFunction progress) { progress_ = std::move(progress); }
    /// For those who read a file of this name without this source; may be empty.
    const ProgressFunction& progress() const { return progress_; }

protected:
    explicit Source(std::string name, size_t pieceBytes = SIZE_MAX)
        : name_(std::move(name))
        , pieceBytes_(pieceBytes)
    {
    }
    virtual Result<size_t> readSome(std::span<char> buffer) = 0;

private:
    std::string name_;
    size_t pieceBytes_; ///< the most that read() delivers at once, from the head, too
    std::string head_;
    size_t headDelivered_ = 0;
    bool headRead_ = false;
    bool stopped_ = false;
    uint64_t bytesRead_ = 0;
    ProgressFunction progress_;
};

} // namespace whichlock
