// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/input/text_cleaning.h"
#include "tests/support/recording_sink.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

TEST(TextCleaning, takesNoRulerForASoftBreak)
{
    const std::string heading = "=============== Testing of addevent.syscall.entry ===============\n";
    const std::string ruler = "==========================================================\n";
    EXPECT_FALSE(looksQuotedPrintable(heading + "1 a\n" + ruler + "2 b\n"));
    EXPECT_TRUE(endsInSoftBreak("0  0  0  12345  12345  12345  12345   0   0    12    34  100    0="));
}

TEST(TextCleaning, keepsLinesBesideRulersApart)
{
    // Joined by the rulers, the total would not stand on a line of its own.
    const std::string ruler = "==========================================================\n";
    RecordingSink sink;
    loadText(ruler + "100 total 1.0000\n" + ruler + "60 default_idle 2.0000\n40 schedule 1.0000\n", sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].total, 100U);
    EXPECT_EQ(sink.sections[0].rows.size(), 2U);
}

} // namespace
} // namespace whichlock::test
