// SPDX-License-Identifier: GPL-3.0-or-later
// The mappings of one process at one moment: intervals that never overlap, in a balanced tree that is never
// changed. Setting a mapping makes a new tree that shares all but a path with the old one, so that a fork
// costs nothing and memory goes by the number of recorded mappings, not by mappings times processes.
#pragma once

#include "analyzer/symbols/mapped_module.h"

#include <memory>
#include <vector>

namespace whichlock {

/// One mapping: [start, start + length) shows the module from `offset` on.
struct Mapping {
    uint64_t start = 0;
    uint64_t length = 0;
    uint64_t offset = 0; ///< in the module, see ModuleKind
    ModuleId module{};
    bool executable = false;

    uint64_t last() const { return start + (length - 1); }
    bool contains(uint64_t address) const { return address - start < length; }
    bool operator==(const Mapping&) const = default;
};

/// MT: safe, as it never changes.
class MappingTree {
public:
    MappingTree() = default;

    /// The same with `mapping` on top: what it overlaps is cut or replaced. `length` must not be 0, and the
    /// end must not lie beyond the last address.
    MappingTree with(const Mapping& mapping) const;
    /// The same without anything in [start, last].
    MappingTree without(uint64_t start, uint64_t last) const;
    const Mapping* find(uint64_t address) const;
    /// All of them by address.
    std::vector<Mapping> all() const;
    bool empty() const { return root_ == nullptr; }

    struct Node;
    using NodePtr = std::shared_ptr<const Node>;

private:
    explicit MappingTree(NodePtr root)
        : root_(std::move(root))
    {
    }
    NodePtr root_;
};

} // namespace whichlock
