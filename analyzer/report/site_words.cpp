// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/site_words.h"

namespace whichlock {

std::string siteLabel(const ReportSite& site)
{
    if (site.calledFrom)
        return "called from " + site.name;
    return site.recovered ? site.name + " (recovered)" : site.name;
}

std::string siteInWords(const ReportSite& site)
{
    return site.calledFrom ? "in a function that " + site.name + " called" : "at " + site.name;
}

std::string namelessLabel(const std::string& name)
{
    constexpr std::string_view kAt = "lock taken at ";
    constexpr std::string_view kFrom = "lock taken in a call from ";
    if (name.starts_with(kAt))
        return "? at " + name.substr(kAt.size());
    return name.starts_with(kFrom) ? "? called from " + name.substr(kFrom.size()) : name;
}

} // namespace whichlock
