// SPDX-License-Identifier: GPL-3.0-or-later
// An AVL tree with the operations split and join (Blelloch, Ferizovic, Sun: "Just Join for Parallel Ordered
// Sets"): each costs the logarithm of the size, whatever order a hostile recording chooses.
#include "analyzer/symbols/mapping_tree.h"

#include <algorithm>
#include <optional>

namespace whichlock {

struct MappingTree::Node {
    Mapping mapping;
    NodePtr left;
    NodePtr right;
    int height = 1;
};

namespace {

using NodePtr = MappingTree::NodePtr;

int heightOf(const NodePtr& node)
{
    return node ? node->height : 0;
}

NodePtr makeNode(NodePtr left, const Mapping& mapping, NodePtr right)
{
    auto node = std::make_shared<MappingTree::Node>();
    node->mapping = mapping;
    node->height = 1 + std::max(heightOf(left), heightOf(right));
    node->left = std::move(left);
    node->right = std::move(right);
    return node;
}

/// A node whose sides differ in height by at most 2, rotated until they differ by at most 1.
NodePtr balanced(const NodePtr& left, const Mapping& mapping, const NodePtr& right)
{
    if (heightOf(left) > heightOf(right) + 1) {
        if (heightOf(left->left) >= heightOf(left->right))
            return makeNode(left->left, left->mapping, makeNode(left->right, mapping, right));
        const NodePtr& middle = left->right;
        return makeNode(makeNode(left->left, left->mapping, middle->left), middle->mapping,
            makeNode(middle->right, mapping, right));
    }
    if (heightOf(right) > heightOf(left) + 1) {
        if (heightOf(right->right) >= heightOf(right->left))
            return makeNode(makeNode(left, mapping, right->left), right->mapping, right->right);
        const NodePtr& middle = right->left;
        return makeNode(makeNode(left, mapping, middle->left), middle->mapping,
            makeNode(middle->right, right->mapping, right->right));
    }
    return makeNode(left, mapping, right);
}

/// All of left, mapping, all of right.
NodePtr join(const NodePtr& left, const Mapping& mapping, const NodePtr& right)
{
    if (heightOf(left) > heightOf(right) + 1)
        return balanced(left->left, left->mapping, join(left->right, mapping, right));
    if (heightOf(right) > heightOf(left) + 1)
        return balanced(join(left, mapping, right->left), right->mapping, right->right);
    return makeNode(left, mapping, right);
}

/// Takes the last mapping off a tree that has one.
std::pair<NodePtr, Mapping> splitLast(const NodePtr& node)
{
    if (!node->right)
        return {node->left, node->mapping};
    auto [rest, last] = splitLast(node->right);
    return {join(node->left, node->mapping, rest), last};
}

NodePtr joinTwo(const NodePtr& left, const NodePtr& right)
{
    if (!left)
        return right;
    auto [rest, last] = splitLast(left);
    return join(rest, last, right);
}

/// The mappings that start before `key`, and the others.
std::pair<NodePtr, NodePtr> split(const NodePtr& node, uint64_t key)
{
    if (!node)
        return {};
    if (node->mapping.start < key) {
        auto [middle, right] = split(node->right, key);
        return {join(node->left, node->mapping, middle), right};
    }
    auto [left, middle] = split(node->left, key);
    return {left, join(middle, node->mapping, node->right)};
}

/// The part of a mapping from `start` on.
Mapping tailOf(const Mapping& mapping, uint64_t start)
{
    Mapping tail = mapping;
    tail.start = start;
    tail.length = mapping.length - (start - mapping.start);
    tail.offset = mapping.offset + (start - mapping.start);
    return tail;
}

struct Hole {
    NodePtr before;
    NodePtr after;
};

/// The tree in two parts, without [start, last].
Hole cutHole(const NodePtr& root, uint64_t start, uint64_t last)
{
    auto [before, rest] = split(root, start);
    NodePtr after;
    std::optional<Mapping> overhang; // of the last mapping that begins at or before `last`
    if (last != UINT64_MAX) {
        auto [covered, behind] = split(rest, last + 1);
        after = behind;
        if (covered)
            overhang = splitLast(covered).second;
    }
    if (before) {
        auto [head, previous] = splitLast(before);
        if (previous.last() >= start) {
            if (previous.last() > last)
                overhang = previous;
            previous.length = start - previous.start;
            before = join(head, previous, nullptr);
        }
    }
    if (overhang && overhang->last() > last)
        after = join(nullptr, tailOf(*overhang, last + 1), after);
    return {before, after};
}

} // namespace

MappingTree MappingTree::with(const Mapping& mapping) const
{
    const Hole hole = cutHole(root_, mapping.start, mapping.last());
    return MappingTree(join(hole.before, mapping, hole.after));
}

MappingTree MappingTree::without(uint64_t start, uint64_t last) const
{
    const Hole hole = cutHole(root_, start, last);
    return MappingTree(joinTwo(hole.before, hole.after));
}

const Mapping* MappingTree::find(uint64_t address) const
{
    for (const Node* node = root_.get(); node != nullptr;) {
        if (address < node->mapping.start)
            node = node->left.get();
        else if (node->mapping.contains(address))
            return &node->mapping;
        else
            node = node->right.get();
    }
    return nullptr;
}

std::vector<Mapping> MappingTree::all() const
{
    std::vector<Mapping> mappings;
    std::vector<const Node*> path;
    const Node* node = root_.get();
    while (node != nullptr || !path.empty()) {
        for (; node != nullptr; node = node->left.get())
            path.push_back(node);
        node = path.back();
        path.pop_back();
        mappings.push_back(node->mapping);
        node = node->right.get();
    }
    return mappings;
}

} // namespace whichlock
