// SPDX-License-Identifier: GPL-3.0-or-later
// The blocks of a document about traces: parts that the views of a section and of one lock share.
#pragma once

#include "analyzer/report/document.h"

namespace whichlock {

/// How much of a lock is shown.
enum class LockDepth : uint8_t { Brief, All };

/// Everything about one lock; `pointer` is its place in the JSON.
void addTraceLock(const ReportTraceLock& lock, const ReportSection& section, const std::string& pointer,
    LockDepth depth, Document& document);

/// A function, or that the stacks do not tell it.
std::string shownFunction(const std::string& function);
/// `fast_path  a_mutex.cc:42`, `called from main`.
std::string placeLabel(const TracedPlace& at);
/// A holder by its place and the name of its thread.
std::string holderLabel(const TracedPlace& at, const std::string& thread);

/// Columns of what holders did meanwhile; only those that have something to show, and that can be known.
class HolderColumns {
public:
    HolderColumns(const std::vector<HolderParts>& rows, bool hasSwitches);

    void addTitles(DocumentTable& table) const;
    void addCells(const HolderParts& parts, const std::string& pointer, std::vector<DocumentCell>& row) const;

private:
    struct Column {
        const char* title;
        const char* field;
        uint64_t HolderParts::*value;
    };
    std::vector<Column> columns_;
};

} // namespace whichlock
