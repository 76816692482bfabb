// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/report_label.h"

namespace whichlock::gui {

QLabel* makeLabel(const QString& text)
{
    auto* const label = new QLabel;
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setText(text);
    return label;
}

QLabel* makeHeading(const QString& text, int larger)
{
    QLabel* const label = makeLabel(text);
    QFont font = label->font();
    font.setBold(true);
    font.setPointSize(font.pointSize() + larger);
    label->setFont(font);
    return label;
}

} // namespace whichlock::gui
