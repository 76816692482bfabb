// SPDX-License-Identifier: GPL-3.0-or-later
// The line that says which samples are looked at and by what, and the command line that does the same.
#pragma once

#include "analyzer/report/query.h"

#include <QWidget>

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;

namespace whichlock::gui {

/// MT: one thread.
class QueryBar final : public QWidget {
    Q_OBJECT
public:
    explicit QueryBar(QWidget* parent = nullptr);

    /// Shows a question; nothing is emitted.
    void setTexts(const QueryTexts& texts);
    /// The question that was applied last.
    const Query& query() const { return query_; }
    /// What stands in the command line around the question: the options in front of it, and the files.
    void setCommand(const QStringList& options, const QStringList& files);

signals:
    /// Another question was applied.
    void changed(const Query& query);

private:
    QueryTexts texts() const;
    void apply();
    void clear();
    void showCommand();

    QComboBox* by_ = nullptr;
    QLineEdit* time_ = nullptr;
    QLineEdit* threads_ = nullptr;
    QLineEdit* processes_ = nullptr;
    QLineEdit* cpus_ = nullptr;
    QLineEdit* focus_ = nullptr;
    QLineEdit* lock_ = nullptr;
    QCheckBox* holds_ = nullptr;
    QLabel* command_ = nullptr;
    QLabel* mistake_ = nullptr;
    Query query_;
    QStringList options_;
    QStringList files_;
};

} // namespace whichlock::gui
