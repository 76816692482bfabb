// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/query_bar.h"

#include "gui/report_label.h"
#include "gui/table_model.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

namespace whichlock::gui {
namespace {

std::optional<std::string> ifAny(const QLineEdit& edit)
{
    const std::string text = edit.text().trimmed().toStdString();
    return text.empty() ? std::nullopt : std::optional(text);
}

std::vector<std::string> listOf(const QLineEdit& edit)
{
    const auto text = ifAny(edit);
    return text ? std::vector<std::string>{*text} : std::vector<std::string>();
}

QString joined(const std::vector<std::string>& entries)
{
    QStringList list;
    for (const std::string& entry : entries)
        list.push_back(QString::fromStdString(entry));
    return list.join(',');
}

void addField(QHBoxLayout& line, const QString& title, QWidget& field, int stretch)
{
    auto* const label = new QLabel(title);
    label->setBuddy(&field);
    line.addWidget(label);
    line.addWidget(&field, stretch);
}

} // namespace

QueryBar::QueryBar(QWidget* parent)
    : QWidget(parent)
{
    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    auto* const line = new QHBoxLayout;
    layout->addLayout(line);
    by_ = new QComboBox;
    by_->setObjectName("by");
    for (const GroupBy by : {GroupBy::Lock, GroupBy::Site, GroupBy::Holder, GroupBy::Thread, GroupBy::Comm,
             GroupBy::Process, GroupBy::Cpu, GroupBy::Symbol})
        by_->addItem(QString::fromStdString(std::string(groupByName(by))));
    by_->setToolTip(tr("What the rows of the main table are"));
    addField(*line, tr("&By"), *by_, 0);
    const auto field = [&](const char* name, const QString& title, const QString& hint, const QString& help,
                           int stretch) {
        auto* const edit = new QLineEdit;
        edit->setObjectName(name);
        edit->setPlaceholderText(hint);
        edit->setToolTip(help);
        edit->setMinimumWidth(edit->fontMetrics().averageCharWidth() * 8);
        connect(edit, &QLineEdit::returnPressed, this, &QueryBar::apply);
        addField(*line, title, *edit, stretch);
        return edit;
    };
    time_ = field("time", tr("&Time"), tr("1.5-2.25"),
        tr("Seconds after the first sample (1.5-2.25, -2, 3-), percentages of a perf.data (10%-20%), or "
           "FROM,TO in the times that perf script prints"),
        2);
    processes_ = field("process", tr("&Process"), tr("name or pid"), tr("Several with commas"), 2);
    threads_ = field("thread", tr("T&hread"), tr("name or tid"), tr("Several with commas"), 2);
    cpus_ = field("cpu", tr("CP&U"), tr("0,2-5"), tr("Numbers and ranges"), 1);
    focus_ = field("focus", tr("Fo&cus"), tr("regular expression"),
        tr("Only samples with a function in their call chain in which this is found (RE2, case counts)"), 3);
    lock_ = field("lock", tr("Loc&k"), tr("part of its name"),
        tr("This lock in depth: any part of its name, its number or its address"), 2);
    holds_ = new QCheckBox(tr("Hol&ds"));
    holds_->setObjectName("holds");
    holds_->setToolTip(tr("How long locks were held, where traces have recorded that"));
    line->addWidget(holds_);
    auto* const applyButton = new QPushButton(tr("&Apply"));
    auto* const clearButton = new QPushButton(tr("C&lear"));
    line->addWidget(applyButton);
    line->addWidget(clearButton);
    mistake_ = makeLabel({});
    mistake_->setObjectName("mistake");
    layout->addWidget(mistake_);
    command_ = makeLabel({});
    command_->setObjectName("command");
    command_->setToolTip(tr("The same report on the command line"));
    layout->addWidget(command_);
    mistake_->hide();
    connect(holds_, &QCheckBox::clicked, this, &QueryBar::apply);
    connect(by_, &QComboBox::activated, this, &QueryBar::apply);
    connect(applyButton, &QPushButton::clicked, this, &QueryBar::apply);
    connect(clearButton, &QPushButton::clicked, this, &QueryBar::clear);
    showCommand();
}

QueryTexts QueryBar::texts() const
{
    return {.by = by_->currentText().toStdString(),
        .time = ifAny(*time_),
        .threads = listOf(*threads_),
        .processes = listOf(*processes_),
        .cpus = listOf(*cpus_),
        .focus = focus_->text().toStdString(),
        .lock = lock_->text().trimmed().toStdString(),
        .holds = holds_->isChecked()};
}

void QueryBar::setTexts(const QueryTexts& texts)
{
    by_->setCurrentText(QString::fromStdString(texts.by.value_or("lock")));
    time_->setText(QString::fromStdString(texts.time.value_or("")));
    threads_->setText(joined(texts.threads));
    processes_->setText(joined(texts.processes));
    cpus_->setText(joined(texts.cpus));
    focus_->setText(QString::fromStdString(texts.focus));
    lock_->setText(QString::fromStdString(texts.lock));
    holds_->setChecked(texts.holds);
    query_ = parseQuery(this->texts()).value_or(Query());
    showCommand();
}

void QueryBar::setCommand(const QStringList& options, const QStringList& files)
{
    options_ = options;
    files_ = files;
    showCommand();
}

void QueryBar::apply()
{
    auto query = parseQuery(texts());
    mistake_->setVisible(!query);
    if (!query) {
        mistake_->setText(shown(query.error()));
        return;
    }
    if (argumentsOf(*query) == argumentsOf(query_))
        return;
    query_ = std::move(*query);
    showCommand();
    emit changed(query_);
}

void QueryBar::clear()
{
    by_->setCurrentIndex(0);
    for (QLineEdit* const edit : {time_, threads_, processes_, cpus_, focus_, lock_})
        edit->clear();
    holds_->setChecked(false);
    apply();
}

void QueryBar::showCommand()
{
    std::string line = "whichlock report";
    for (const std::string& argument : argumentsOf(query_))
        line += ' ' + shellQuoted(argument);
    for (const QStringList& words : {options_, files_}) {
        for (const QString& word : words)
            line += ' ' + shellQuoted(word.toStdString());
    }
    command_->setText(shown(line));
}

} // namespace whichlock::gui
