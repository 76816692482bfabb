// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/locks/lock_use.h"

#include "analyzer/locks/kernel_version.h"

namespace whichlock {

bool mayBeOfKernel(const LockUse& use, std::string_view kernel)
{
    const auto mine = KernelVersion::parse(use.version());
    const auto recorded = KernelVersion::parse(kernel);
    if (!mine || !recorded)
        return true;
    return mine->part[0] == recorded->part[0]
        && (mine->parts < 2 || recorded->parts < 2 || mine->part[1] == recorded->part[1]);
}

} // namespace whichlock
