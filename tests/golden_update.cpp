// SPDX-License-Identifier: GPL-3.0-or-later
// Rewrites the expected files of all golden cases and prints which; exits non-zero when there were any, so
// that nobody takes it for a test that passed. Target update-golden.
#include "tests/support/golden.h"

#include <cstdio>

int main()
{
    using namespace whichlock::test;
    size_t rewritten = 0;
    for (const GoldenCase& golden : goldenCases(WHICHLOCK_TESTDATA)) {
        removeActual(golden);
        const auto differences = runGolden(golden, WHICHLOCK_PROGRAM, WHICHLOCK_SCRATCH);
        rewriteExpected(differences);
        for (const Difference& difference : differences)
            std::printf(
                "%s %s\n", difference.missing ? "new      " : "rewritten", difference.expected.c_str());
        rewritten += differences.size();
    }
    if (rewritten > 0)
        std::printf("%zu files changed: look at them, and say in the commit why\n", rewritten);
    else
        std::printf("nothing changed\n");
    return rewritten > 0 ? 1 : 0;
}
