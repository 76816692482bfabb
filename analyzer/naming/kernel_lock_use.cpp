// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/kernel_lock_use.h"

#include <algorithm>
#include <cstring>

namespace whichlock {
namespace {

/// The bytes of loaded memory from an address on, at most `most`.
std::span<const uint8_t> bytesAt(const ElfImage& image, uint64_t address, uint64_t most)
{
    for (const ImageSection& section : image.sections())
        if (section.contains(address) && address - section.address < section.bytes.size())
            return section.bytes.subspan(address - section.address,
                std::min<uint64_t>(most, section.bytes.size() - (address - section.address)));
    return {};
}

/// `6.1.0` of `Linux version 6.1.0-57-cloud-amd64 (...`.
std::string versionIn(std::span<const uint8_t> banner)
{
    constexpr std::string_view kStart = "Linux version ";
    std::string_view text(reinterpret_cast<const char*>(banner.data()), banner.size());
    if (!text.starts_with(kStart))
        return {};
    text.remove_prefix(kStart.size());
    return std::string(text.substr(0, text.find_first_not_of("0123456789.")));
}

} // namespace

Result<std::shared_ptr<KernelLockUse>> KernelLockUse::open(const std::string& path, const LockIndex& index)
{
    auto image = ElfImage::open(path);
    if (!image)
        return tl::make_unexpected(image.error());
    std::shared_ptr<KernelLockUse> use(new KernelLockUse);
    use->image_ = std::move(*image);
    use->source_ = path.substr(path.rfind('/') + 1);
    use->readIndex(index);
    use->readSymbols();
    return use;
}

void KernelLockUse::readIndex(const LockIndex& index)
{
    for (const LockIndexRow& row : index.rows) {
        // What only tries does not wait; `A or B` tells neither.
        if (row.lock.empty() || row.tries || row.ambiguous)
            continue;
        std::vector<std::string_view> functions{row.function};
        functions.insert(functions.end(), row.inlined.begin(), row.inlined.end());
        for (const std::string_view function : functions) {
            std::vector<std::string>& locks = locks_[std::string(function)];
            if (std::ranges::find(locks, row.lock) != locks.end())
                continue;
            locks.push_back(row.lock);
            ++takers_[row.lock];
        }
    }
}

void KernelLockUse::readSymbols()
{
    constexpr uint64_t kMostBannerBytes = 64;
    for (const ImageSymbol& symbol : image_->symbols()) {
        if (symbol.name == "linux_banner")
            version_ = versionIn(bytesAt(*image_, symbol.address, kMostBannerBytes));
        if (!symbol.function || symbol.size == 0)
            continue;
        byName_.emplace(symbol.name, functions_.size());
        functions_.push_back(symbol);
        if (locks_.contains(symbol.name))
            byAddress_.emplace(symbol.address, symbol.name);
    }
}

/// Code is not decoded for this: in practice no other bytes lead to the very beginning of such a function.
void KernelLockUse::addCalled(const ImageSymbol& function, std::vector<TakenLock>& taken) const
{
    constexpr size_t kBranchBytes = 5;
    constexpr size_t kMostTaken = 16;
    const std::span<const uint8_t> code = bytesAt(*image_, function.address, function.size);
    for (size_t at = 0; at + kBranchBytes <= code.size() && taken.size() < kMostTaken; ++at) {
        if (code[at] != 0xe8 && code[at] != 0xe9)
            continue;
        int32_t distance = 0;
        std::memcpy(&distance, code.data() + at + 1, sizeof distance);
        const auto called =
            byAddress_.find(function.address + at + kBranchBytes + static_cast<uint64_t>(int64_t{distance}));
        if (called == byAddress_.end() || called->second == function.name)
            continue;
        for (const std::string& lock : locks_.find(called->second)->second)
            if (std::ranges::find(taken, lock, &TakenLock::lock) == taken.end())
                taken.push_back({lock, std::string(called->second), takers_.find(lock)->second});
    }
}

std::vector<TakenLock> KernelLockUse::of(std::string_view function) const
{
    std::vector<TakenLock> taken;
    if (const auto own = locks_.find(function); own != locks_.end()) {
        for (const std::string& lock : own->second)
            taken.push_back({lock, {}, takers_.find(lock)->second});
        return taken;
    }
    const auto [first, last] = byName_.equal_range(function);
    for (auto one = first; one != last; ++one)
        addCalled(functions_[one->second], taken);
    return taken;
}

} // namespace whichlock
