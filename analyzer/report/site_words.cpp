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

} // namespace whichlock
