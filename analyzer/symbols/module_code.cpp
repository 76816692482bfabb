// SPDX-License-Identifier: GPL-3.0-or-later
// What the machine code of a module tells: calls before return addresses, and loops that wait.
#include "analyzer/symbols/module_data.h"
#include "analyzer/symbols/pause_loop.h"

#include <algorithm>

namespace whichlock {

CodeReader* ModuleReader::codeReader()
{
    if (code_ == nullptr || code_->isRelocatable())
        return nullptr;
    if (!codeReader_)
        codeReader_.emplace(*code_);
    return &*codeReader_;
}

std::optional<SymbolHit> ModuleReader::functionAt(uint64_t offset) const
{
    const std::optional<uint64_t> address = addressOf(offset);
    SymbolHit hit;
    if (!address || !data_.functions().find(*address, hit))
        return std::nullopt;
    return hit;
}

FunctionCode ModuleReader::codeAround(uint64_t offset)
{
    constexpr uint64_t kMostBytes = 1U << 16U;
    CodeReader* reader = codeReader();
    const std::optional<SymbolHit> hit = functionAt(offset);
    if (reader == nullptr || !hit || hit->size == 0 || hit->size > kMostBytes)
        return {};
    return {reader->machine(), hit->address, reader->code(hit->address, hit->size)};
}

std::optional<CalledFunction> ModuleReader::calledBefore(uint64_t returnOffset)
{
    CodeReader* reader = codeReader();
    if (reader == nullptr || returnOffset == 0)
        return std::nullopt;
    // After a call that is the last instruction the return address belongs to nothing.
    const std::optional<uint64_t> last = addressOf(returnOffset - 1);
    if (!last)
        return std::nullopt;
    const uint64_t returnAddress = *last + 1;
    const CallBefore call =
        callBefore(reader->machine(), returnAddress, reader->codeBefore(returnAddress, kMostCallBytes));
    CalledFunction called;
    switch (call.kind) {
    case CallKind::None:
        return std::nullopt;
    case CallKind::Direct:
        if (SymbolHit hit; data_.functions().find(call.address, hit) && hit.address == call.address) {
            called.symbol = hit.name;
            called.address = hit.address;
            return called;
        }
        called.symbol = reader->importedByStub(call.address);
        break;
    case CallKind::ThroughSlot:
        called.symbol = reader->importedBySlot(call.address);
        break;
    }
    called.imported = true;
    return called.symbol.empty() ? std::nullopt : std::optional(std::move(called));
}

std::vector<ExportedFunction> ModuleReader::exported(std::string_view symbol)
{
    CodeReader* reader = codeReader();
    return reader == nullptr ? std::vector<ExportedFunction>() : reader->exported(symbol);
}

bool ModuleReader::isPauseLoop(uint64_t offset)
{
    CodeReader* reader = codeReader();
    const std::optional<uint64_t> address = addressOf(offset);
    if (reader == nullptr || !address)
        return false;
    // Within the function, where its beginning is known: what stands before is something else.
    SymbolHit hit;
    const bool known = data_.functions().find(*address, hit);
    uint64_t before = *address - (known ? hit.address : 0);
    before = std::min<uint64_t>(before, 2 * kPauseLoopBytes) & ~uint64_t{3}; // whole words of arm64
    uint64_t behind = 2 * kPauseLoopBytes;
    if (known && hit.size != 0)
        behind = std::min(behind, hit.address + hit.size - *address);
    const std::span<const uint8_t> code = reader->code(*address - before, before + behind);
    return inPauseLoop(reader->machine(), code, before);
}

} // namespace whichlock
