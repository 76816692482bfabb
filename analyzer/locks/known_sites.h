// SPDX-License-Identifier: GPL-3.0-or-later
// Ordinary kernel functions and the locks that they take: candidates for profiles without callers.
#pragma once

#include "analyzer/locks/arch.h"
#include "analyzer/locks/lookup_context.h"
#include "parsers/result.h"

#include <string_view>
#include <vector>

namespace whichlock {

/// One row of known_sites.tsv. The views live as long as the table.
struct KnownSite {
    std::string_view function;
    std::string_view lock;
    Era era;
    ArchSet arch;
    std::string_view via;             ///< helper that takes the lock, or empty
    std::string_view source;          ///< file in the kernel tree
    std::string_view versionsChecked; ///< comma list of versions whose source was read
};

// MT: safe (immutable once built)
/// The functions that are known to take a lock.
class KnownSites {
public:
    /// The table that is linked in; parsed at the first call.
    static const KnownSites& builtIn();
    /// Reads a table of the same shape; the text has to outlive it.
    static Result<KnownSites> parse(std::string_view fileName, std::string_view text);

    /// The rows of a function whose era and processor fit what is known, in the order of the table.
    std::vector<const KnownSite*> find(std::string_view normalisedFunction, const Context& context) const;
    /// All rows, sorted by function.
    const std::vector<KnownSite>& rows() const { return rows_; }

private:
    std::vector<KnownSite> rows_;
};

} // namespace whichlock
