// SPDX-License-Identifier: GPL-3.0-or-later
// The sections of one `perf script` text: one an event, begun when its first sample comes.
#pragma once

#include "parsers/formats/damage_counter.h"
#include "parsers/formats/perf_script_rows.h"

#include <string>
#include <vector>

namespace whichlock::perfscript {

class EventSections {
public:
    explicit EventSections(BlockContext& context)
        : context_(context)
    {
    }

    /// The command that recorded what follows.
    void setCommand(std::string_view command) { command_ = command; }
    /// Whether there is a section of this event.
    bool has(std::string_view event) const;
    /// The section of a sample; null when there are too many events. Samples with and without a period have
    /// different units and are kept apart.
    const SectionHandle* of(const Header& header, const TextLine& line);
    /// Reports what is to be said about all of them.
    void finish(const std::string& inputName);

private:
    struct Section {
        std::string event;
        bool hasPeriod = false;
        SectionHandle handle;
    };

    const SectionHandle* begin(const Header& header, const TextLine& line);

    BlockContext& context_;
    std::string command_;
    std::vector<Section> sections_;
    size_t last_ = 0; ///< the section of the last sample
    std::string notTimed_;
    DamageCounter notTimedCount_{DiagnosticCode::EventsNotTimed, 0};
    DamageCounter tooMany_{DiagnosticCode::LimitReached, 0};
};

} // namespace whichlock::perfscript
