// SPDX-License-Identifier: GPL-3.0-or-later
// Labels with text that comes from a report, and so from an input: never taken for markup.
#pragma once

#include <QLabel>

namespace whichlock::gui {

/// Plain text that is broken into lines and can be selected with the mouse. Not with the keyboard: dozens of
/// labels would stand in the way of Tab.
QLabel* makeLabel(const QString& text);
/// The same in bold, `larger` points above the usual size.
QLabel* makeHeading(const QString& text, int larger);

} // namespace whichlock::gui
