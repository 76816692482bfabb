// SPDX-License-Identifier: GPL-3.0-or-later
// Reader of the tab-separated tables: comment lines, a header that names the columns, rows of cells.
#pragma once

#include "analyzer/locks/kernel_version.h"
#include "parsers/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock {

/// Walks the rows of a table. Cells are views into the text, which has to outlive them.
class TableText {
public:
    /// `columns` are the names that the reader of the table knows; cell() takes an index into them.
    TableText(std::string_view fileName, std::string_view text, std::span<const std::string_view> columns);

    /// Finds the header. The first `requiredCount` columns have to be in it; unknown names are an error.
    Result<void> readHeader(size_t requiredCount);
    /// Goes to the next row; false behind the last one.
    Result<bool> next();
    /// A cell of the current row; empty if the table has no such column.
    std::string_view cell(size_t column) const { return cells_[column]; }

    /// An error at the current line.
    tl::unexpected<Error> error(std::string message) const;
    /// The era between the cells of two columns.
    Result<Era> era(size_t sinceColumn, size_t untilColumn) const;

private:
    bool nextLine();
    Result<void> version(size_t column, std::optional<KernelVersion>& out) const;

    std::string_view fileName_;
    std::string_view rest_;
    std::string_view line_;
    uint64_t lineNumber_ = 0;
    std::span<const std::string_view> columns_;
    std::vector<size_t> order_;           ///< for each column of the file, its index in columns_
    std::vector<std::string_view> cells_; ///< by index in columns_
};

} // namespace whichlock
