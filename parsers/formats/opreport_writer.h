// SPDX-License-Identifier: GPL-3.0-or-later
// Hands the rows of one opreport list to a section for each of its events.
#pragma once

#include "parsers/format.h"
#include "parsers/formats/opreport_block.h"

namespace whichlock::opreport {

inline constexpr std::string_view kFormatName = "opreport";

/// Writes one list: opens a section an event at construction. MT: one thread.
class ListWriter {
public:
    /// The block of the list begins at `first`.
    ListWriter(const Head& head, const Layout& layout, const TextLine& first, BlockContext& context);

    void add(const Row& row, const TextLine& line);
    /// The author cut rows away here.
    void cutHere(std::string_view mark);
    /// A row could not be read: the list is not whole any more.
    void rowLost() { whole_ = false; }
    void repaired(std::string_view how) { factOfAll(FactKind::Repair, how); }
    /// A list whose percentages add up to the whole is complete; its sum is the total.
    void finish();

private:
    struct OneEvent {
        SectionHandle section{};
        uint64_t samples = 0;
        int64_t ppb = 0;
        uint64_t rows = 0;
        bool overflow = false;
    };

    void describe(const Head& head, size_t index);
    void addTo(OneEvent& event, const Figure& figure, const Row& row, const TextLine& line);
    void factOfAll(FactKind kind, std::string_view value);

    BlockContext& context_;
    std::vector<OneEvent> events_;
    ImpliedTotal implied_;
    bool whole_ = true;
    bool kernelImageSeen_ = false;
};

} // namespace whichlock::opreport
