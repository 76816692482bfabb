// SPDX-License-Identifier: GPL-3.0-or-later
// Shows a document: paragraphs as text that can be selected, tables as table views, one below the other.
#pragma once

#include "analyzer/report/document.h"

#include <QScrollArea>

namespace whichlock::gui {

/// MT: one thread.
class SectionView final : public QScrollArea {
    Q_OBJECT
public:
    explicit SectionView(QWidget* parent = nullptr);

    /// Replaces what is shown.
    void setDocument(const Document& document);
};

} // namespace whichlock::gui
