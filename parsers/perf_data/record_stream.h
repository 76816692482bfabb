// SPDX-License-Identifier: GPL-3.0-or-later
// Takes the records of perf.data off a stretch of bytes, one after the other, those inside of COMPRESSED
// records included.
#pragma once

#include "parsers/perf_data/decompressor.h"
#include "parsers/perf_data/perf_data_state.h"

#include <memory>

namespace whichlock {

/// The records of one file: pieces of it are put in, in order. MT: one thread.
class RecordStream {
public:
    /// `bytesStay`: what is put in is where it is until all records were delivered.
    RecordStream(PerfDataState& state, bool bytesStay);

    /// Handles the whole records at the front of `bytes`, which begin at `offset` of the file. Returns how
    /// many bytes are done; the rest is to be put in again with more behind it.
    size_t take(std::string_view bytes, uint64_t offset);
    /// No more will come: `rest` is what take() left. Tells what is cut.
    void finish(std::string_view rest, uint64_t offset);
    /// Whether damage makes it impossible to find further records.
    bool stopped() const { return stopped_; }

private:
    enum class Kind : uint8_t {
        StayingBytes,
        PassingBytes,
        Decompressed, ///< passing, and inside of a COMPRESSED record
    };
    struct Header {
        uint32_t type = 0;
        uint16_t misc = 0;
        uint16_t size = 0;
    };
    friend void deliverHeldRecord(PerfDataState& state, const HeldRecord& held);

    RecordStream(PerfDataState& state, Kind kind);
    bool inner() const { return kind_ == Kind::Decompressed; }
    static Header headerAt(std::string_view bytes, ByteOrder order);
    void count(uint32_t type);
    uint64_t bytesBehind(const Header& header, std::string_view payload) const;
    bool holdBack(const PerfRecord& record, std::string_view payload);
    void handle(PerfRecord& record, std::string_view payload, std::string_view behind);
    void decompress(const PerfRecord& record, std::string_view payload);
    void stop(DiagnosticCode code, const Header& header, uint64_t offset, std::string_view what);

    PerfDataState& state_;
    const Kind kind_;
    bool stopped_ = false;
    uint64_t skip_ = 0;     ///< bytes of an AUXTRACE payload that are still to come
    uint64_t skipFrom_ = 0; ///< offset of that record
    std::unique_ptr<Decompressor> decompressor_;
    std::unique_ptr<RecordStream> innerStream_;
    uint64_t innerOffset_ = 0; ///< of the COMPRESSED record at hand
};

} // namespace whichlock
