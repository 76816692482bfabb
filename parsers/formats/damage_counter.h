// SPDX-License-Identifier: GPL-3.0-or-later
// Damage in a block, counted: however broken an input is, its diagnostics stay few.
#pragma once

#include "parsers/format.h"

#include <string>
#include <string_view>

namespace whichlock {

/// Counts occurrences of one kind of damage: the first are reported one by one, the rest in one sum.
class DamageCounter {
public:
    DamageCounter(DiagnosticCode code, size_t mostSingle)
        : code_(code)
        , mostSingle_(mostSingle)
    {
    }

    void add(BlockContext& context, const TextLine& line, std::string_view message, uint64_t count = 1)
    {
        if (single_ < mostSingle_) {
            ++single_;
            context.report(code_, std::string(message), line);
            return;
        }
        if (count_ == 0)
            first_ = {.text = {}, .number = line.number, .offset = line.offset};
        if (__builtin_add_overflow(count_, count, &count_))
            count_ = UINT64_MAX;
    }

    uint64_t count() const { return count_; }
    const TextLine& first() const { return first_; }

    /// Reports the sum with the position of its first occurrence.
    void finish(BlockContext& context, const std::string& chain, std::string message) const
    {
        if (count_ == 0)
            return;
        Diagnostic diagnostic = makeDiagnostic(code_, std::move(message),
            {.chain = chain, .line = first_.number, .column = 0, .offset = first_.offset});
        diagnostic.count = count_;
        context.sink.diagnostic(std::move(diagnostic));
    }

private:
    DiagnosticCode code_;
    size_t mostSingle_;
    size_t single_ = 0;
    uint64_t count_ = 0;
    TextLine first_;
};

} // namespace whichlock
