// SPDX-License-Identifier: GPL-3.0-or-later
// Places where a lock is taken, in words: a place never claims more than the chain shows.
#pragma once

#include "analyzer/report/report.h"

#include <string>

namespace whichlock {

/// `dput+0x31`, `slow_path (recovered)`, `called from worker+0x4e`.
std::string siteLabel(const ReportSite& site);
/// For sentences: `at dput+0x31`, `in a function that worker+0x4e called`.
std::string siteInWords(const ReportSite& site);
/// `? at dput+0x31 (dcache.c:812)` of `lock taken at dput+0x31 (dcache.c:812)`: names of locks that have
/// none.
std::string namelessLabel(const std::string& name);

} // namespace whichlock
