// SPDX-License-Identifier: GPL-3.0-or-later
// The profile: everything that was read, in canonical order, immutable. Equal content gives equal tables,
// however the work was divided. Made by ProfileBuilder; turned into figures by report/.
#pragma once

#include "analyzer/model/ids.h"
#include "parsers/load.h"
#include "parsers/record.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock {

/// One frame as the input names it. Symbolizing adds names for frames that have none.
struct Frame {
    StringId symbol;
    StringId object;
    uint64_t symbolOffset = TextFrame::kNoOffset; ///< bytes from the start of the symbol
    bool inlined = false;
    bool recovered = false;                   ///< see TextFrame
    bool calleeMissing = false;               ///< see TextFrame
    bool waitLoop = false;                    ///< see TextFrame
    LockSource lockSource = LockSource::None; ///< what the following three rest on
    bool lockVerified = false;
    StringId lock{};           ///< that the call of this frame takes; see CalledLock
    StringId lockExpression{}; ///< as the frame's function sees it

    auto operator<=>(const Frame&) const = default;
};

/// One call chain: the frame and the stack that called it. A parent always stands before its children.
struct Stack {
    StackId parent; ///< the caller; none for the outermost frame
    FrameId frame;

    auto operator<=>(const Stack&) const = default;
};

/// Threads that are told apart in a section. Single threads and processors only where the question needs
/// them.
struct ThreadGroup {
    StringId comm;
    int32_t pid = -1;
    int32_t tid = -1; ///< -1 = not told apart
    int32_t cpu = -1; ///< the same

    auto operator<=>(const ThreadGroup&) const = default;
};

/// What a thread was doing when the weight was spent.
enum class Phase : uint8_t { Run, Spin, Wait, Hold };

/// The weight of one stack in one thread group. Flat rows are stacks of one frame.
struct Cell {
    StackId stack;
    ThreadGroupId group;
    Phase phase = Phase::Run;
    uint64_t weight = 0;  ///< in the section's unit
    uint64_t samples = 0; ///< samples or rows that it was added up from
    Share printed;        ///< sum of the printed percentages, 0 if none were printed

    bool operator==(const Cell&) const = default;
};

struct Fact {
    FactKind kind{};
    std::string value;
    Position position;

    auto operator<=>(const Fact&) const = default;
};

/// One sampled event or one table of an input.
struct Section {
    SectionRecord record;
    uint32_t input = 0;            ///< index into Profile::inputs
    std::optional<uint64_t> total; ///< as printed
    bool sharesPrinted = false;
    uint64_t rows = 0;    ///< flat rows, or readable frames of call chains
    uint64_t samples = 0; ///< samples with call chains
    uint64_t weight = 0;  ///< everything that was added to cells; checked against them
    LeftOut leftOut;      ///< what a filter kept out; in none of the other figures
    std::vector<Cell> cells;
    std::vector<std::string> counterColumns;
    std::vector<std::vector<int64_t>> counterRows;
    std::vector<TableRecord> tables;
    std::optional<LockTraceRecord> trace;
    std::optional<LockTableRecord> lockTable;
    std::vector<Fact> facts;
};

/// One input of the session.
struct InputInfo {
    std::string name;
    std::string format;
    Confidence confidence = Confidence::No;
    uint64_t bytes = 0;
    bool failed = false;
    std::vector<Fact> facts; ///< that hold for the whole input
};

/// MT: safe, as it never changes.
class Profile {
public:
    std::vector<InputInfo> inputs;
    std::vector<Section> sections; ///< by input and position
    std::vector<ScoreRecord> scores;
    std::vector<Diagnostic> diagnostics;

    std::string_view string(StringId id) const { return id ? strings_[id.v - 1] : std::string_view(); }
    const Frame& frame(FrameId id) const { return frames_[id.v - 1]; }
    const Stack& stack(StackId id) const { return stacks_[id.v - 1]; }
    const ThreadGroup& group(ThreadGroupId id) const { return groups_[id.v - 1]; }
    uint32_t stackCount() const { return static_cast<uint32_t>(stacks_.size()); }
    uint32_t frameCount() const { return static_cast<uint32_t>(frames_.size()); }

    /// The innermost symbol of a stack; empty for a sample without frames.
    std::string_view leafSymbol(StackId id) const
    {
        return id ? string(frame(stack(id).frame).symbol) : std::string_view();
    }

    /// Whether what the cells hold is what the sections say was put into them, and ids are in range.
    /// Empty if so, else what is wrong. Runs in release builds.
    std::string check() const;
    /// All content as bytes; equal for equal content.
    std::string canonicalBytes() const;

private:
    friend class ProfileBuilder;

    std::vector<std::string> strings_;
    std::vector<Frame> frames_;
    std::vector<Stack> stacks_;
    std::vector<ThreadGroup> groups_;
};

} // namespace whichlock
