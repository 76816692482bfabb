#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes analyzer/locks/data/kernel_locks.tsv of the lists of single kernels.

    merge_tables.py NAME=LIST... > kernel_locks.tsv

NAME is the kernel's version. A LIST that ends in .csv comes from scan_package.sh (machine code and debug
information), one that ends in .src from read_sources.py. `hand.tsv` beside this script is always read, too.
"""
import collections
import csv
import os
import re
import sys

# What stands in a profile whose question is a lock; what drives cameras, sound and sensors is left out, as the
# table has to stay small.
FOLDERS = re.compile(
    r"^(arch/x86/|block/|crypto/|fs/|init/|ipc/|kernel/|lib/|mm/|net/|security/|virt/|io_uring/"
    r"|arch/i386/(kernel|mm|lib)/|arch/x86_64/"
    r"|drivers/(block|md|nvme|scsi/[^/]*$|vhost|virtio|target|ata|base|hv|xen|net/[^/]*$|net/(virtio|vmxnet3|xen-netback"
    r"|ethernet/(intel|mellanox|broadcom|amazon|google))|char/[^/]*$|tty|iommu|dma-buf|infiniband/(core|ulp)))")
MOST_LOCKS = 6        # a function with more is a wrapper: its lock depends on the caller
MOST_INLINED = 3      # the same for functions that were only seen inlined

KINDS = {"spinlock": "s", "mutex": "m", "semaphore": "S", "rt-mutex": "t", "ww-mutex": "m"}
SIDES = {("rwlock", "read"): "r", ("rwlock", "write"): "w", ("rwsem", "read"): "R", ("rwsem", "write"): "W",
         ("percpu-rwsem", "read"): "p", ("percpu-rwsem", "write"): "P"}
SOURCE_KINDS = {"spin": "s", "rw-read": "r", "rw-write": "w", "mutex": "m", "sem": "S", "rwsem-read": "R",
                "rwsem-write": "W", "rtmutex": "t", "bkl": "k", "dec-and-lock": "d"}
SUFFIX = re.compile(r"\.(constprop|isra|part|cold|llvm|lto_priv)(\.\d+)*$")

# Variables that hold one lock a processor, under the name that a pointer to one gives.
ALIASES = {"runqueues.__lock": "struct rq::__lock", "runqueues.lock": "struct rq::lock"}


HEAD = """\
# SPDX-License-Identifier: GPL-3.0-or-later
# Which function of which kernel takes which lock. Made by tests/bench/kernel_tables; do not edit by hand.
#
# Columns, separated by tabs:
#   function  as in a profile, without the compiler's suffixes; empty: as in the row above. Sorted by bytes.
#             `.text.lock.NAME` is the section of a file's spin loops, with all locks that the file takes.
#   take      how: s spin lock, r and w rwlock, m mutex, S semaphore, R and W rwsem, p and P per-CPU rwsem,
#             t rt-mutex, k big kernel lock, d atomic_dec_and_lock, l lockref_*; small letters and capitals of a
#             pair are read and write. Behind s, r, w: i _irq, v _irqsave, b _bh.
#             ~ in front: in a static function that this one calls, which may have been inlined.
#   lock      a variable with the path of members, or TYPE::path of members; [*] any element;
#             ? = it takes one that is not named, so that nothing can be said about the function
#   kernels   the letters of those in which this was found
#   where     file of the source, or kernel module; empty: the image of the kernel itself
# Left out are drivers of cameras, sound, graphics, sensors and the like, and calls that only try.
# A kernel: letter, version, read from machine code and debug info or from the source, what it was.
"""


def plain(function):
    while True:
        shorter = SUFFIX.sub("", function)
        if shorter == function:
            return function
        function = shorter


def variant(routine):
    """Which of the spin lock's routines it is: a function may take two locks in different ways."""
    if "irqsave" in routine:
        return "v"
    if "_irq" in routine:
        return "i"
    if "_bh" in routine:
        return "b"
    return ""


def read_code(path):
    """Rows (function, take, lock, where) of a file of scan_package.sh."""
    inlined = collections.defaultdict(set)
    own = set()
    with open(path, newline="") as stream:
        for row in csv.reader(stream):
            module, _, function, chain, routine, kind, side, lock, _, _, _, tries, _ = row
            if tries == "true" or (module != "vmlinux" and not FOLDERS.match(module)):
                continue
            take = SIDES.get((kind, side)) or KINDS.get(kind)
            if take is None:
                continue
            if take in "srw":
                take += variant(routine)
            names = [ALIASES.get(one, one) for one in lock.split(" or ")] if lock else ["?"]
            where = "" if module == "vmlinux" else module
            for name in names:
                own.add((plain(function), take, name, where))
                for one in chain.split(" > ")[1:]:
                    inlined[plain(one)].add((take, name, where))
    out_of_line = {row[0] for row in own}
    for function, rows in inlined.items():
        # What also stands out of line somewhere is known better from there, except for other files' copies.
        if function not in out_of_line and len({row[1] for row in rows}) <= MOST_INLINED:
            own |= {(function, *row) for row in rows}
    return own


def read_source(path):
    rows = set()
    direct = set()
    with open(path) as stream:
        for line in stream:
            function, kind, lock, how, _, where = line.rstrip("\n").split("\t")
            if not FOLDERS.match(where):
                continue
            kind, _, letter = kind.partition(":")
            take = SOURCE_KINDS[kind] + letter
            if how == "static":
                rows.add((function, "~" + take, lock, where))
            else:
                direct.add((function, take, lock))
                rows.add((function, take, lock, where))
    return {row for row in rows if not (row[1][0] == "~" and (row[0], row[1][1:], row[2]) in direct)}


def stubs(rows):
    """Rows of the spin sections of files: all locks that the file's functions take."""
    found = collections.defaultdict(set)
    for function, take, lock, where in rows:
        if take[0] != "~" and take not in ("k", "d") and where.endswith(".c") and not where.startswith("drivers/"):
            found[".text.lock." + os.path.basename(where)[:-2]].add((take, lock, where))
    # Files of one base name cannot be told apart by the symbol.
    return {(stub, *row) for stub, rows in found.items() if len({row[2] for row in rows}) == 1 for row in rows}


def version_key(version):
    return [int(part) for part in version.split(".")]


def main():
    lists = [argument.split("=", 1) for argument in sys.argv[1:]]
    lists.sort(key=lambda one: version_key(one[0]))
    letters = "abcdefghijklmnopqrstuvwxyz"
    table = collections.defaultdict(lambda: [set(), ""])
    heads = []
    for letter, (version, path) in zip(letters, lists):
        code = path.endswith(".csv")
        rows = read_code(path) if code else read_source(path)
        if not code and version_key(version) < [2, 6, 15]:
            rows |= stubs(rows)
        many = collections.defaultdict(set)
        for function, take, lock, _ in rows:
            many[function, take[:2] if take[0] == "~" else take[:1]].add(lock)
        for function, take, lock, where in rows:
            key = (function, take[:2] if take[0] == "~" else take[:1])
            if len(many[key]) > MOST_LOCKS and not function.startswith(".text"):
                lock = "?"  # the function stays known as one whose lock the table does not tell
            entry = table[function, take, lock]
            entry[0].add(letter)
            entry[1] = where or entry[1]
        heads.append((letter, version, "code" if code else "source"))
    for function, take, lock, since, until, where in beside("hand.tsv", 6):
        for letter, version, _ in heads:
            if version_key(since) <= version_key(version)[:len(version_key(since))] and \
                    (not until or version_key(version)[:len(version_key(until))] <= version_key(until)):
                entry = table[function, take, lock]
                entry[0].add(letter)
                entry[1] = where
    write(heads, table)


def beside(name, columns):
    """Rows of a table beside this script."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name)) as stream:
        for line in stream:
            if line.strip() and not line.startswith("#"):
                yield (line.rstrip("\n").split("\t") + [""] * columns)[:columns]


def write(heads, table):
    origins = {version: origin for version, origin in beside("kernels.tsv", 2)}
    print(HEAD, end="")
    for letter, version, how in heads:
        print(f"#kernel\t{letter}\t{version}\t{how}\t{origins[version]}")
    last = None
    for (function, take, lock), (kernels, where) in sorted(table.items()):
        shown = "" if function == last else function
        last = function
        print("\t".join([shown, take, lock.removeprefix("struct "), "".join(sorted(kernels)), where]).rstrip("\t"))


if __name__ == "__main__":
    sys.exit(main())
