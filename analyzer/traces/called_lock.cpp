// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/called_lock.h"

#include <algorithm>

namespace whichlock {
namespace {

constexpr std::string_view kOr = " or ";
constexpr size_t kMostNames = 3;

std::vector<std::string> possibilities(std::string_view names)
{
    std::vector<std::string> all;
    for (size_t at = 0; at <= names.size();) {
        const size_t end = std::min(names.find(kOr, at), names.size());
        all.emplace_back(names.substr(at, end - at));
        at = end + kOr.size();
    }
    return all;
}

/// The kind that routines have which take such a lock; empty if any may.
std::string_view routineKind(LockKind kind)
{
    switch (kind) {
    case LockKind::SpinLock:
        return "spinlock";
    case LockKind::KernelRwlock:
    case LockKind::UserRwlock:
        return "rwlock";
    case LockKind::KernelMutex:
    case LockKind::UserMutex:
    case LockKind::PiMutex:
        return "mutex";
    case LockKind::RwSemaphore:
    case LockKind::MmapLock:
        return "rwsem";
    case LockKind::PercpuRwSemaphore:
        return "percpu-rwsem";
    case LockKind::RtMutex:
        return "rtmutex";
    case LockKind::KernelSemaphore:
    case LockKind::UserSemaphore:
        return "semaphore";
    case LockKind::Unknown:
    case LockKind::OnceGuard:
    case LockKind::Parker:
    case LockKind::ConditionLock:
    case LockKind::YieldLock:
    case LockKind::Condition:
    case LockKind::Join:
    case LockKind::Barrier:
    case LockKind::OtherWord:
        break;
    }
    return {};
}

} // namespace

void CalledLockNames::add(TracedCall call, uint64_t waitNs)
{
    const std::string_view wanted = routineKind(kind_);
    if (!call.lock.empty()
        && (wanted.empty() || call.kind == wanted || call.kind == "futex" || call.kind == "lock"))
        said_.push_back({std::move(call), waitNs});
}

TracedCall CalledLockNames::common() const
{
    if (said_.empty())
        return {};
    const auto heaviest = std::ranges::max_element(said_, [](const Said& a, const Said& b) {
        return std::tie(a.waitNs, b.call.lock) < std::tie(b.waitNs, a.call.lock);
    });
    TracedCall result = heaviest->call;
    std::vector<std::string> common = possibilities(result.lock);
    std::vector<std::string> all = common;
    for (const Said& said : said_) {
        const std::vector<std::string> names = possibilities(said.call.lock);
        std::erase_if(
            common, [&](const std::string& name) { return std::ranges::find(names, name) == names.end(); });
        for (const std::string& name : names)
            if (std::ranges::find(all, name) == all.end())
                all.push_back(name);
        result.verified = result.verified && said.call.verified;
        result.variable = result.variable && said.call.variable;
    }
    std::vector<std::string>& names = common.empty() ? all : common;
    if (names.size() > kMostNames)
        return {};
    std::sort(names.begin(), names.end());
    result.lock.clear();
    for (const std::string& name : names)
        result.lock += (result.lock.empty() ? std::string() : std::string(kOr)) + name;
    return result;
}

} // namespace whichlock
