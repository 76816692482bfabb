#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often is a kernel named wrongly from its neighbours? The table's own rows of that kernel are the truth.

    judge_tables.py kernel_locks.tsv KERNEL,BEFORE,BEHIND...

Either neighbour may be left empty. Functions that take a lock which the table does not name are no truth.
"""
import collections
import sys

MOST_NAMES = 3  # as in kernel_locks.cpp


class Table:
    def __init__(self, path):
        self.letters = {}
        self.rows = collections.defaultdict(list)
        function = ""
        with open(path) as stream:
            for line in stream:
                cells = line.rstrip("\n").split("\t")
                if line.startswith("#"):
                    if cells[0] == "#kernel":
                        self.letters[cells[2]] = cells[1]
                    continue
                function = cells[0] or function
                self.rows[function].append(cells[1:])

    def takes(self, function, kernel):
        letter = self.letters[kernel]
        return {row[0] for row in self.rows[function] if letter in row[2] and row[0][0] != "~"}

    def locks(self, function, take, kernel):
        """The same choice as the program makes."""
        letter = self.letters[kernel]
        rows = [row for row in self.rows[function] if letter in row[2] and row[0].lstrip("~")[0] == take[0]]
        for better in (lambda row: row[0][0] != "~", lambda row: row[0][1:] == take[1:]):
            if any(better(row) for row in rows):
                rows = [row for row in rows if better(row)]
        return {row[1] for row in rows}


def judge(table, kernel, before, behind):
    count = collections.Counter()
    wrong = []
    for function in table.rows:
        if function.startswith(".text."):
            continue
        for take in table.takes(function, kernel):
            truth = table.locks(function, take, kernel)
            if "?" in truth:
                continue
            sides = [table.locks(function, take, one) if one else set() for one in (before, behind)]
            names = sides[0] | sides[1]
            known = "both" if all(sides) else "one" if any(sides) else "none"
            if not names or "?" in names or len(names) > MOST_NAMES:
                count[known, "silent"] += 1
            elif truth <= names:
                count[known, "right" if len(names) == 1 else "among a few"] += 1
            elif truth & names:
                count[known, "some of a few"] += 1
            else:
                count[known, "wrong"] += 1
                wrong.append((function, take, truth, names))
    print(f"{kernel} from {before or '-'} and {behind or '-'}")
    for (known, what), number in sorted(count.items()):
        print(f"    known to {known}: {number} {what}")
    return wrong


def main():
    table = Table(sys.argv[1])
    for question in sys.argv[2:]:
        for function, take, truth, names in judge(table, *question.split(","))[:10]:
            print(f"        {function} {take}: {', '.join(sorted(truth))}, not {', '.join(sorted(names))}")


if __name__ == "__main__":
    sys.exit(main())
