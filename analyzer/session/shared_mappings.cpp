// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/session/shared_mappings.h"

#include <algorithm>

namespace whichlock {
namespace {

constexpr uint32_t kMapShared = 1; // MAP_SHARED; with 2 it is MAP_SHARED_VALIDATE
constexpr size_t kMostPieces = 4096;

} // namespace

/// Cuts [start, start + length) out of what is there.
void SharedMappings::clear(Pieces& pieces, uint64_t start, uint64_t length)
{
    const uint64_t end = start + length;
    auto at = pieces.lower_bound(start);
    if (at != pieces.begin()) {
        const auto before = std::prev(at);
        const uint64_t beforeEnd = before->first + before->second.length;
        if (beforeEnd > end)
            pieces.insert(at,
                {end,
                    {beforeEnd - end, before->second.offset + (end - before->first), before->second.object}});
        before->second.length = std::min(before->second.length, start - before->first);
    }
    for (at = pieces.lower_bound(start); at != pieces.end() && at->first < end;) {
        const uint64_t pieceEnd = at->first + at->second.length;
        if (pieceEnd > end) {
            const Piece rest{pieceEnd - end, at->second.offset + (end - at->first), at->second.object};
            pieces.erase(at);
            pieces[end] = rest;
            return;
        }
        at = pieces.erase(at);
    }
}

void SharedMappings::add(const PerfMapping& mapping)
{
    if (mapping.length == 0 || mapping.length > UINT64_MAX - mapping.start)
        return;
    const bool shared = mapping.hasDetails && (mapping.flags & kMapShared) != 0 && mapping.inode != 0;
    const auto process = processes_.find(static_cast<int32_t>(mapping.pid));
    if (process == processes_.end() && !shared)
        return;
    std::shared_ptr<Pieces>& pieces =
        process != processes_.end() ? process->second : processes_[static_cast<int32_t>(mapping.pid)];
    if (!pieces)
        pieces = std::make_shared<Pieces>();
    else if (pieces.use_count() > 1)
        pieces = std::make_shared<Pieces>(*pieces);
    clear(*pieces, mapping.start, mapping.length);
    if (!shared || pieces->size() >= kMostPieces)
        return;
    const auto [file, isNew] =
        files_.try_emplace({mapping.deviceMajor, mapping.deviceMinor, mapping.inode, mapping.inodeGeneration},
            static_cast<uint32_t>(files_.size() + 1));
    (*pieces)[mapping.start] = {mapping.length, mapping.pageOffset, file->second};
}

void SharedMappings::fork(int32_t pid, int32_t parent)
{
    if (pid == parent)
        return; // a thread
    const auto from = processes_.find(parent);
    if (from == processes_.end()) {
        processes_.erase(pid);
        return;
    }
    const std::shared_ptr<Pieces> inherited = from->second;
    processes_[pid] = inherited;
}

std::optional<SharedPlace> SharedMappings::find(int32_t pid, uint64_t address) const
{
    const auto process = processes_.find(pid);
    if (process == processes_.end())
        return std::nullopt;
    const Pieces& pieces = *process->second;
    auto at = pieces.upper_bound(address);
    if (at == pieces.begin())
        return std::nullopt;
    --at;
    const uint64_t distance = address - at->first;
    if (distance >= at->second.length || at->second.offset > UINT64_MAX - distance)
        return std::nullopt;
    return SharedPlace{at->second.object, at->second.offset + distance};
}

} // namespace whichlock
