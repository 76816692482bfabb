// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of the window share: reports of samples, and waiting for a signal of the background job.
#pragma once

#include "analyzer/report/document.h"
#include "gui/report_loader.h"

#include <QAbstractItemModel>
#include <QStringList>

#include <memory>
#include <string>
#include <vector>

namespace whichlock::test {

/// Path of a file of testdata.
std::string testdata(const std::string& name);

/// The report of one file, made without the window.
Report reportOf(const std::string& path);

/// All tables of a document, in order.
std::vector<DocumentTable> tablesOf(const Document& document);

/// Ends the test run when the model breaks the rules of item models.
void checkModel(QAbstractItemModel& model);

/// Lets the loader read; null when it does not deliver.
std::shared_ptr<const gui::LoadedReport> loadWith(gui::ReportLoader& loader, const QStringList& paths);

} // namespace whichlock::test
