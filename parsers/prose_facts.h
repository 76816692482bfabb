// SPDX-License-Identifier: GPL-3.0-or-later
// Facts that stand in the prose of a mail: kernel versions, CPU counts, names of locks.
#pragma once

#include "parsers/record.h"

namespace whichlock {

struct TextLine;

/// Reports what a line of prose says about the recording. Names found here are evidence, never a result.
void reportProseFacts(const TextLine& line, const Position& position, RecordSink& sink);

} // namespace whichlock
