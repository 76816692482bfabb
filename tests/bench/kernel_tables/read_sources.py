#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the bodies of the functions of a kernel's source tree and writes which locks they take.

    read_sources.py TREE > LIST

A small reader, no compiler: it takes calls of lock routines, and names the argument by the declared types of
parameters, local and global variables and members. A name is given only where the member found is declared as a
lock of the routine's kind; anything else is written as `?`, so that whoever uses the list knows that the function
takes a lock which is not named. Inline helpers and macros are followed; static functions of the same file one
level. Both branches of conditional compilation are read where they are whole statements.

Columns of the list: function, kind, lock, how (direct, inline, static), via, file.
"""
import collections
import os
import re
import sys

FOLDERS = ("arch/i386", "arch/x86", "arch/x86_64", "block", "crypto", "drivers/ata", "drivers/base",
           "drivers/block", "drivers/char", "drivers/infiniband", "drivers/iommu", "drivers/md", "drivers/net",
           "drivers/nvme", "drivers/scsi", "drivers/tty", "drivers/vhost", "drivers/virtio", "fs", "init", "ipc", "kernel", "lib",
           "mm", "net", "security")
HEADERS = ("include/linux", "include/net", "include/asm-generic", "include/asm-i386", "include/asm-x86_64",
           "include/asm-x86", "include/scsi", "include/trace", "arch/x86/include", "include/sound", "include/rdma",
           "include/media", "include/acpi", "include/uapi/linux", "include/drm")

LOCK_TYPES = {
    "spinlock_t": "spin", "raw_spinlock_t": "spin", "spinlock": "spin", "raw_spinlock": "spin",
    "rwlock_t": "rw", "seqlock_t": "spin", "semaphore": "sem", "mutex": "mutex", "rw_semaphore": "rwsem",
    "rt_mutex": "rtmutex", "mutex_t": "mutex",
}
# routine -> (kind of the call, kind of the lock's type, which argument)
ROUTINES = {}


def _routines():
    for prefix in ("", "raw_", "_", "_raw_"):
        for suffix in ("", "_irq", "_irqsave", "_bh", "_nested", "_irqsave_nested", "_bh_nested", "_irq_nested",
                       "_nest_lock"):
            ROUTINES[f"{prefix}spin_lock{suffix}"] = ("spin", "spin", 0)
            ROUTINES[f"{prefix}read_lock{suffix}"] = ("rw-read", "rw", 0)
            ROUTINES[f"{prefix}write_lock{suffix}"] = ("rw-write", "rw", 0)
    for suffix in ("", "_irq", "_irqsave", "_bh"):
        ROUTINES[f"write_seqlock{suffix}"] = ("spin", "spin", 0)
        ROUTINES[f"read_seqlock_excl{suffix}"] = ("spin", "spin", 0)
    for name in ("mutex_lock", "mutex_lock_nested", "mutex_lock_interruptible", "mutex_lock_killable",
                 "mutex_lock_interruptible_nested", "mutex_lock_killable_nested", "mutex_lock_io"):
        ROUTINES[name] = ("mutex", "mutex", 0)
    for name in ("down", "down_interruptible", "down_killable", "down_timeout"):
        ROUTINES[name] = ("sem", "sem", 0)
    for name in ("down_read", "down_read_nested", "down_read_killable"):
        ROUTINES[name] = ("rwsem-read", "rwsem", 0)
    for name in ("down_write", "down_write_nested", "down_write_killable", "down_write_nest_lock"):
        ROUTINES[name] = ("rwsem-write", "rwsem", 0)
    for name in ("atomic_dec_and_lock", "_atomic_dec_and_lock", "refcount_dec_and_lock"):
        ROUTINES[name] = ("dec-and-lock", "spin", 1)
    ROUTINES["rt_mutex_lock"] = ("rtmutex", "rtmutex", 0)
    ROUTINES["lock_kernel"] = ("bkl", "", -1)


_routines()
CALL = re.compile(r"\b(" + "|".join(sorted(ROUTINES, key=len, reverse=True)) + r")\s*\(")
WORD = re.compile(r"[A-Za-z_]\w*")
KEYWORDS = {"if", "while", "for", "switch", "return", "sizeof", "else", "do", "typeof", "__typeof__", "defined"}


def variant(routine):
    """How the routine treats interrupts: a function may take two locks in different ways."""
    for word, letter in (("irqsave", ":v"), ("_irq", ":i"), ("_bh", ":b")):
        if word in routine:
            return letter
    return ""


BRACKET = re.compile(r"[(\[{)\]}]")
BRACKET_OR_COMMA = re.compile(r"[(\[{)\]},]")


def balanced(text, start):
    """The end of the bracket that opens at `start`; the length of the text if none closes it."""
    depth = 0
    for match in BRACKET.finditer(text, start):
        depth += 1 if match.group(0) in "([{" else -1
        if depth == 0:
            return match.start()
    return len(text)


def arguments(text):
    """Splits at commas outside of brackets."""
    parts, depth, last = [], 0, 0
    for match in BRACKET_OR_COMMA.finditer(text):
        c = match.group(0)
        if c == ",":
            if depth == 0:
                parts.append(text[last:match.start()].strip())
                last = match.end()
        else:
            depth += 1 if c in "([{" else -1
    parts.append(text[last:].strip())
    return parts


STRIP = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.S)


def without_comments(text):
    def keep(match):
        piece = match.group(0)
        if piece.startswith('"'):
            return '""'
        if piece.startswith("'"):
            return "0"
        return "\n" * piece.count("\n") or " "
    return STRIP.sub(keep, text)


def without_conditions(text):
    """Takes the lines of conditional compilation out: both branches where both are balanced, else the first."""
    out, stack = [], []
    for line in text.split("\n"):
        word = line.lstrip()
        if word.startswith("#"):
            directive = word[1:].lstrip()
            if directive.startswith("if"):
                dead = bool(re.match(r"if\s+0\b", directive))
                stack.append({"start": len(out), "balanced": True, "first": True, "dead": dead})
            elif directive.startswith(("else", "elif")) and stack:
                top = stack[-1]
                body = out[top["start"]:]
                if top["dead"]:
                    del out[top["start"]:]
                    top["dead"] = False
                elif top["first"]:
                    top["balanced"] = sum(l.count("{") - l.count("}") for l in body) == 0
                    top["first"] = False
                else:
                    if sum(l.count("{") - l.count("}") for l in out[top["keep"]:]) != 0:
                        del out[top["keep"]:]
                top["keep"] = len(out)
            elif directive.startswith("endif") and stack:
                top = stack.pop()
                if top["dead"]:
                    del out[top["start"]:]
                elif not top["first"]:
                    last = out[top["keep"]:]
                    if not top["balanced"] or sum(l.count("{") - l.count("}") for l in last) != 0:
                        del out[top["keep"]:]
            continue
        out.append(line)
    return "\n".join(out)


class Type:
    """What a declaration says: the struct or base type, how many stars, how many dimensions."""
    __slots__ = ("name", "stars", "dims")

    def __init__(self, name, stars=0, dims=0):
        self.name, self.stars, self.dims = name, stars, dims


MODIFIERS = {"const", "volatile", "static", "extern", "register", "unsigned", "signed", "struct", "union", "enum",
             "inline", "__inline__", "__inline", "__read_mostly", "__user", "__rcu", "__iomem", "auto", "asmlinkage",
             "fastcall", "__init", "__exit", "noinline", "__always_inline", "__percpu", "__cacheline_aligned",
             "____cacheline_aligned", "____cacheline_aligned_in_smp", "__cacheline_aligned_in_smp",
             "__must_check", "__sched", "notrace", "__kprobes", "__ref", "__cpuinit", "__devinit", "__meminit",
             "__refdata", "__initdata", "__attribute_used__", "__maybe_unused", "long", "short"}


def declared(text):
    """(name, Type) of one declaration without initialiser, such as `struct inode *inode`."""
    if len(text) > 300:
        return None
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)|\b__aligned\s*\([^)]*\)|____?cacheline_\w+|\b__(?:user|rcu|iomem|percpu)\b", " ", text)
    match = re.match(r"^\s*((?:\w+\s+)*?)(\w+)\s*((?:\s|\*|const\b)*?)(\w+)\s*((?:\[[^\]]*\]\s*)*)$", text)
    if not match:
        return None
    words = match.group(1).split()
    base = match.group(2)
    if base in MODIFIERS or match.group(4) in MODIFIERS:
        return None
    if "enum" in words:
        return None
    if any(w not in MODIFIERS for w in words):
        return None
    return match.group(4), Type(base, match.group(3).count("*"), match.group(5).count("["))


class Tree:
    def __init__(self, root):
        self.root = root
        self.structs = collections.defaultdict(dict)   # name -> member -> set of Type keys
        self.typedefs = {}
        self.aliases = {}       # object-like macros that stand for a member path
        self.macros = {}        # function-like macros: name -> (params, body)
        self.globals = {}       # name -> Type or None where files disagree
        self.returns = {}       # function -> Type
        self.inlines = {}       # inline functions of headers: name -> Function
        self.conflicts = set()

    def note(self, table, key, value):
        old = table.get(key)
        if old is None and key not in table:
            table[key] = value
        elif old is not None and (old.name, old.stars, old.dims) != (value.name, value.stars, value.dims):
            table[key] = None

    def read_structs(self, text):
        for match in re.finditer(r"\b(typedef\s+)?(struct|union)\s+(\w+)?\s*(?:__attribute__\s*\(\(.*?\)\)\s*)?\{", text):
            start = match.end() - 1
            end = balanced(text, start)
            name = match.group(3)
            after = text[end + 1:end + 200]
            alias = re.match(r"\s*(?:__attribute__\s*\(\(.*?\)\)|____?cacheline\w+)?\s*(\w+)\s*;", after)
            if match.group(1) and alias:
                if name is None:
                    name = alias.group(1)
                else:
                    self.typedefs[alias.group(1)] = Type(name)
            if name is None:
                continue
            self.members(name, text[start + 1:end])
        for match in re.finditer(r"\btypedef\s+struct\s+(\w+)\s*(\**)\s*(\w+)\s*;", text):
            self.typedefs[match.group(3)] = Type(match.group(1), len(match.group(2)))

    def members(self, owner, body):
        """Members of a struct; those of unnamed structs inside belong to it, named ones become types."""
        at, last = 0, 0
        for match in re.finditer(r"[{;]", body):
            if match.start() < at:
                continue
            statement = body[max(last, at):match.start()]
            if match.group(0) == ";":
                self.member_statement(owner, statement)
                at = last = match.end()
                continue
            end = balanced(body, match.start())
            rest = re.match(r"\s*(?:__attribute__\s*\(\(.*?\)\)|____?cacheline\w+)?\s*(\*?)\s*(\w*)\s*((?:\[[^\]]*\]\s*)*)[^;]*;",
                            body[end + 1:end + 300])
            inner = body[match.end():end]
            tag = re.search(r"(?:struct|union)\s+(\w+)\s*$", statement)
            if re.search(r"\b(struct|union)\b", statement):
                if rest and rest.group(2) and not rest.group(2).startswith("__"):
                    name = tag.group(1) if tag else f"{owner}.{rest.group(2)}"
                    self.members(name, inner)
                    self.add_member(owner, rest.group(2), Type(name, len(rest.group(1)), rest.group(3).count("[")))
                elif tag is None:
                    self.members(owner, inner)
            at = last = end + 1 + (rest.end() if rest else 0)

    def member_statement(self, owner, statement):
        # Paddings and the like stand before a member without a semicolon.
        statement = re.sub(r"\b[A-Z_][A-Z0-9_]*_?PADDING\s*\([^()]*\)", " ", statement)
        if "(" in statement and not re.search(r"__attribute__|__aligned|DECLARE", statement):
            return
        parts = arguments(statement)
        first = declared(parts[0].split(":")[0])
        if first is None:
            return
        self.add_member(owner, *first)
        for part in parts[1:]:
            match = re.match(r"^\s*(\**)\s*(\w+)\s*((?:\[[^\]]*\])*)", part)
            if match:
                self.add_member(owner, match.group(2), Type(first[1].name, len(match.group(1)), match.group(3).count("[")))

    def add_member(self, owner, name, kind):
        self.note(self.structs[owner], name, kind)

    def read_macros(self, text, where):
        for match in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)\n]*\))?[ \t]+((?:[^\n\\]|\\\n|\\.)*)", text, re.M):
            name, params, body = match.group(1), match.group(2), match.group(3).replace("\\\n", " ").strip()
            if params is None:
                if re.fullmatch(r"[a-z_]\w*(?:\.\w+)*", body) and body != name and not body.startswith("__"):
                    where.setdefault(name, (None, body))
            elif name not in ROUTINES and len(body) < 600:
                names = [p.strip() for p in params[1:-1].split(",")]
                useful = CALL.search(body) or "->" in body or "." in body or "&" in body
                if useful and "..." not in params:
                    where.setdefault(name, (names, body))

    def read_globals(self, text, where):
        """Declarations at the outermost level: text from which all brackets are taken."""
        for match in re.finditer(r"\b(?:DEFINE|DECLARE)_PER_CPU(?:_\w+)?\s*\(\s*(?:struct\s+)?(\w+)\s*,\s*(\w+)\s*\)", text):
            self.note(where, match.group(2), Type(match.group(1)))
        for match in re.finditer(r"\b(?:DEFINE_SPINLOCK|DEFINE_RAW_SPINLOCK)\s*\(\s*(\w+)\s*\)", text):
            self.note(where, match.group(1), Type("spinlock_t"))
        for word, kind in (("DEFINE_RWLOCK", "rwlock_t"), ("DEFINE_MUTEX", "mutex"), ("DECLARE_RWSEM", "rw_semaphore"),
                           ("DECLARE_MUTEX", "semaphore"), ("DEFINE_SEMAPHORE", "semaphore"),
                           ("DEFINE_SEQLOCK", "seqlock_t"), ("DECLARE_MUTEX_LOCKED", "semaphore"),
                           ("DECLARE_WAIT_QUEUE_HEAD", "wait_queue_head_t")):
            for match in re.finditer(r"\b" + word + r"\s*\(\s*(\w+)\s*\)", text):
                self.note(where, match.group(1), Type(kind))
        for statement in text.split(";"):
            statement = statement[statement.rfind("\n\n") + 1:] if len(statement) > 400 else statement
            statement = statement[statement.rfind("}") + 1:].strip() if "= {}" not in statement else statement.strip()
            if not statement or len(statement) > 400 or "(" in statement.split("=")[0]:
                continue
            parts = arguments(statement)
            first = declared(" ".join(w for w in parts[0].split("=")[0].split() if not w.startswith("__")))
            if first is None or first[1].name in KEYWORDS or first[1].name in ("typedef", "goto"):
                continue
            self.note(where, *first)
            for part in parts[1:]:
                one = re.match(r"^(\**)\s*(\w+)\s*((?:\[[^\]]*\]\s*)*)(?:=|$)", part)
                if one:
                    self.note(where, one.group(2), Type(first[1].name, len(one.group(1)), one.group(3).count("[")))

    def lock_kind(self, kind):
        if kind is None or kind.stars:
            return None
        name = kind.name
        for _ in range(4):
            if name in LOCK_TYPES:
                return LOCK_TYPES[name]
            if name not in self.typedefs:
                return None
            name = self.typedefs[name].name
        return None

    def member(self, kind, name):
        """The type of a member and its whole path (through macros that rename members)."""
        for _ in range(4):
            if kind.name in self.structs:
                break
            base = self.typedefs.get(kind.name)
            if base is None:
                return None, name
            kind = Type(base.name, kind.stars + base.stars)
        members = self.structs.get(kind.name, {})
        if name not in members and name in self.aliases and "." in self.aliases[name]:
            path, inner = self.aliases[name].split("."), kind
            for one in path:
                if inner is None:
                    return None, name
                inner = self.member(inner, one)[0]
            return inner, self.aliases[name]
        if name not in members and name in self.aliases and self.aliases[name] in members:
            name = self.aliases[name]
        return members.get(name), name

    def struct_name(self, kind):
        name = kind.name
        for _ in range(4):
            if name in self.structs or name not in self.typedefs:
                break
            name = self.typedefs[name].name
        return name


class Function:
    __slots__ = ("name", "params", "body", "inline", "static", "file", "result")

    def __init__(self, name, params, body, inline, static, file, result):
        self.name, self.params, self.body = name, params, body
        self.inline, self.static, self.file, self.result = inline, static, file, result


def functions_of(text, file):
    """Function definitions: text from the end of what came before to a brace in the first column."""
    found = []
    for match in re.finditer(r"^\{", text, re.M):
        start = max(text.rfind(";", 0, match.start()), text.rfind("}", 0, match.start()), text.rfind("\n\n", 0, match.start()))
        head = text[start + 1:match.start()].strip()
        end = text.find("\n}", match.start())
        if end < 0 or len(head) > 1200 or "(" not in head:
            continue
        add_function(found, head, text[match.end():end], file)
    # Short helpers of headers: the brace stands on the line of the head.
    for match in re.finditer(r"^(static\s+(?:__always_)?_*inline_*[^;{}#]*\([^;{}#]*\))\s*\{", text, re.M):
        opening = match.end() - 1
        if opening == 0 or text[opening - 1] == "\n":
            continue
        end = balanced(text, opening)
        add_function(found, match.group(1), text[opening + 1:end], file)
    return found


def add_function(found, head, body, file):
    head = re.sub(r"__attribute__\s*\(\(.*?\)\)|\b__(?:acquires|releases|must_hold|printf)\s*\([^)]*\)", " ", head, flags=re.S)
    syscall = re.search(r"\b(?:COMPAT_)?SYSCALL_DEFINE\d\s*\(\s*(\w+)\s*,?(.*)\)\s*$", head, re.S)
    if syscall:
        pieces = arguments(syscall.group(2))
        params = [f"{a} {b}" for a, b in zip(pieces[::2], pieces[1::2])]
        found.append(Function("sys_" + syscall.group(1), params, body, False, False, file, None))
        return
    close = head.rfind(")")
    depth, opening = 0, -1
    for at in range(close, -1, -1):
        if head[at] == ")":
            depth += 1
        elif head[at] == "(":
            depth -= 1
            if depth == 0:
                opening = at
                break
    if opening <= 0:
        return
    name = re.search(r"(\w+)\s*$", head[:opening])
    if not name or name.group(1) in KEYWORDS:
        return
    before = head[:name.start()]
    words = set(WORD.findall(before))
    inline = bool(words & {"inline", "__inline__", "__inline", "__always_inline"})
    result = None
    kind = re.search(r"(?:struct\s+)?(\w+)\s*(\*+)\s*$", before.strip())
    if kind:
        result = Type(kind.group(1), len(kind.group(2)))
    found.append(Function(name.group(1), arguments(head[opening + 1:close]), body, inline, "static" in words, file, result))


class File:
    """One source file: its functions with what they take."""

    def __init__(self, tree, path, text):
        self.tree, self.path = tree, path
        self.macros, self.globals = {}, {}
        tree.read_macros(text, self.macros)
        plain = without_conditions(text)
        self.functions = functions_of(plain, path)
        self.by_name = {f.name: f for f in self.functions}
        outer = re.sub(r"\{[^{}]*\}", "{}", re.sub(r"\{[^{}]*\}", "{}", re.sub(r"\{[^{}]*\}", "", plain)))
        tree.read_globals(outer, self.globals)
        self.memo = {}

    def macro(self, name):
        return self.macros.get(name) or self.tree.macros.get(name)

    def expanded(self, text, depth=0):
        """Macros that take locks, and object-like ones that name a variable, are put in their places."""
        if depth > 3:
            return text
        out, at = [], 0
        for match in re.finditer(r"\b([A-Za-z_]\w*)\s*\(", text):
            if match.start() < at:
                continue
            macro = self.macro(match.group(1))
            if macro is None or macro[0] is None or match.group(1) in self.by_name or not CALL.search(macro[1]):
                continue
            end = balanced(text, match.end() - 1)
            given = arguments(text[match.end():end])
            if len(given) != len(macro[0]) and macro[0] != [""]:
                continue
            out.append(text[at:match.start()])
            out.append(self.expanded(substitute(macro, given), depth + 1))
            at = end + 1
        out.append(text[at:])
        return "".join(out)

    def locals_of(self, function, body):
        known = {}
        for param in function.params:
            one = declared(param)
            if one:
                known[one[0]] = one[1]
        for match in re.finditer(r"(?:^|(?<=[;{}]))\s*((?:(?:const|static|register|volatile)\s+)*(?:struct\s+|union\s+)?[A-Za-z_]\w*)"
                                 r"([\s*]+)([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)*)(?=[=,;])", body):
            base = match.group(1).split()
            if base[-1] in KEYWORDS or base[-1] in ("goto", "return", "else", "case") or base[0] in KEYWORDS:
                continue
            stars = match.group(2).count("*")
            name = match.group(3)
            if name in KEYWORDS:
                continue
            new = Type(base[-1], stars, match.group(4).count("["))
            self.note_local(known, name, new)
            # further declarators of the same statement
            rest_end = body.find(";", match.end())
            rest = body[match.end():rest_end if rest_end >= 0 else match.end()]
            for part in arguments(rest)[1:]:
                more = re.match(r"^(\**)\s*(\w+)\s*((?:\[[^\]]*\])*)\s*(?:=|$)", part)
                if more:
                    self.note_local(known, more.group(2), Type(base[-1], len(more.group(1)), more.group(3).count("[")))
        return known

    @staticmethod
    def note_local(known, name, new):
        old = known.get(name)
        if name in known and (old is None or (old.name, old.stars) != (new.name, new.stars)):
            known[name] = None  # two scopes: whose it is cannot be told
        else:
            known[name] = new

    def type_of(self, expression, known, depth=0):
        """(Type, owner, path): owner is the struct that the path begins in, or a global; None if unknown."""
        if depth > 6:
            return None
        text = expression.strip()
        while True:
            if text.startswith("(") and balanced(text, 0) == len(text) - 1:
                text = text[1:-1].strip()
                continue
            cast = re.match(r"^\(\s*(?:const\s+)?(?:struct\s+)?(\w+)\s*(\*+)\s*\)\s*(\(.*\)|\w+)$", text, re.S)
            if cast:
                return Type(cast.group(1), len(cast.group(2))), None, ""
            break
        address = False
        if text.startswith("&"):
            address, text = True, text[1:].strip()
            if text.startswith("(") and balanced(text, 0) == len(text) - 1:
                text = text[1:-1].strip()
        if text.startswith("*"):
            inner = self.type_of(text[1:], known, depth + 1)
            if inner is None or inner[0].stars == 0:
                return None
            return Type(inner[0].name, inner[0].stars - 1), inner[0].name, ""
        head, at = self.head_of(text, known, depth)
        if head is None:
            return None
        kind, owner, path = head
        while at < len(text):
            if text[at].isspace():
                at += 1
                continue
            if text[at] == "[":
                at = balanced(text, at) + 1
                if kind.dims:
                    kind = Type(kind.name, kind.stars, kind.dims - 1)
                    path += "[*]"
                elif kind.stars == 1:
                    kind, owner, path = Type(kind.name), self.tree.struct_name(kind), ""
                    owner = "struct " + owner
                else:
                    return None
                continue
            step = re.match(r"(->|\.)\s*(\w+)", text[at:])
            if not step:
                return None
            at += step.end()
            if kind.dims and step.group(1) == "->":
                kind, path = Type(kind.name, kind.stars, 0), path + "[*]"
            elif step.group(1) == "->":
                if kind.stars != 1 or kind.dims:
                    return None
                kind, owner, path = Type(kind.name), "struct " + self.tree.struct_name(kind), ""
            elif kind.stars or kind.dims:
                return None
            if owner is None:
                owner = "struct " + self.tree.struct_name(kind)
            member, name = self.tree.member(kind, step.group(2))
            if member is None:
                return None
            path += ("." if path else "") + name
            kind = member
        if address:
            kind = Type(kind.name, kind.stars + 1, kind.dims)
        return kind, owner, path

    def head_of(self, text, known, depth):
        """The first piece of an expression: a variable, a call or a bracket."""
        if text.startswith("("):
            end = balanced(text, 0)
            inner = self.type_of(text[1:end], known, depth + 1)
            return inner, end + 1
        word = re.match(r"[A-Za-z_]\w*", text)
        if not word:
            return None, 0
        name, at = word.group(0), word.end()
        while at < len(text) and text[at].isspace():
            at += 1
        if at < len(text) and text[at] == "(":
            end = balanced(text, at)
            return self.call_type(name, text[at + 1:end], known, depth), end + 1
        if name == "current" and name not in known:
            return (Type("task_struct", 1), None, ""), at
        if name in known:
            kind = known[name]
            return (None if kind is None else (kind, None, "")), at
        macro = self.macro(name)
        if macro is not None and macro[0] is None and depth < 4:
            return self.type_of(macro[1], known, depth + 1), at
        kind = self.globals.get(name) or self.tree.globals.get(name)
        if kind is None:
            return None, at
        return (kind, name, ""), at

    def call_type(self, name, given, known, depth):
        if name in ("list_entry", "container_of", "rb_entry", "hlist_entry", "list_first_entry"):
            parts = arguments(given)
            if len(parts) == 3:
                one = re.match(r"^(?:struct\s+)?(\w+)$", parts[1])
                return (Type(one.group(1), 1), None, "") if one else None
            return None
        if name in ("per_cpu", "__get_cpu_var", "get_cpu_var", "__raw_get_cpu_var"):
            # One lock a processor: the class, as a pointer to it would give.
            found = self.type_of(arguments(given)[0], known, depth + 1)
            return (found[0], None, "") if found is not None and not found[2] else None
        if name in ("per_cpu_ptr", "this_cpu_ptr", "raw_cpu_ptr"):
            found = self.type_of(arguments(given)[0], known, depth + 1)
            return (found[0], None, "") if found is not None and found[0].stars == 1 else None
        if name in ("ACCESS_ONCE", "READ_ONCE", "rcu_dereference", "smp_load_acquire", "rcu_dereference_raw"):
            return self.type_of(arguments(given)[0], known, depth + 1)
        macro = self.macro(name)
        if macro is not None and macro[0] is not None and name not in self.by_name:
            parts = arguments(given)
            if len(parts) == len(macro[0]):
                return self.type_of(substitute(macro, parts), known, depth + 1)
            return None
        function = self.by_name.get(name)
        kind = function.result if function else self.tree.returns.get(name)
        return (kind, None, "") if kind is not None else None

    def lock_of(self, expression, wanted, known, body, depth=0):
        """The names of the locks that a routine's argument may be; {'?'} where it cannot be told."""
        found = self.type_of(expression, known)
        if found is None:
            return {"?"}
        kind, owner, path = found
        kind = Type(kind.name, kind.stars - 1, kind.dims)
        if kind.stars or self.tree.lock_kind(kind) != wanted:
            return {"?"}
        if kind.dims:
            return {"?"}
        if kind.name == "seqlock_t" and owner is not None:
            path += ".lock" if path else "lock"
        if owner is None:
            # A local pointer to a lock: what was it set to?
            word = re.match(r"^\s*(\w+)\s*$", expression)
            if word is None or depth:
                return {"?"}
            return self.assigned(word.group(1), wanted, known, body)
        if not path:
            return {owner} if not owner.startswith("struct ") else {"?"}
        if "." in owner and owner.startswith("struct "):
            # A nested struct without a tag: its holder cannot be told from here.
            return {"?"}
        return {f"{owner}::{path}" if owner.startswith("struct ") else (owner + path if path.startswith("[") else f"{owner}.{path}")}

    def assigned(self, variable, wanted, known, body):
        names = set()
        for match in re.finditer(r"\b" + variable + r"\s*=(?!=)\s*([^;]*);", body):
            value = match.group(1).strip()
            if value == "NULL":
                continue
            names |= self.lock_of(value, wanted, known, body, 1)
        return names or {"?"}

    def takes(self, function, depth=0):
        """{(kind, lock, how, via)} of a function; with `param N` for locks that the caller hands in."""
        key = function.name
        if key in self.memo:
            return self.memo[key]
        self.memo[key] = set()  # recursion ends here
        body = self.expanded(function.body)
        known = self.locals_of(function, body)
        params = [declared(p) for p in function.params]
        names = [p[0] if p else None for p in params]
        rows = set()
        for match in CALL.finditer(body):
            before = body[:match.start()].rstrip()
            if before.endswith(("->", ".")):
                continue
            call, wanted, index = ROUTINES[match.group(1)]
            if call in ("spin", "rw-read", "rw-write"):
                call += variant(match.group(1))
            end = balanced(body, match.end() - 1)
            given = arguments(body[match.end():end])
            if call == "bkl":
                rows.add((call, "kernel_flag", "direct", ""))
                continue
            if index >= len(given) or not given[index]:
                continue
            word = re.match(r"^\s*(\w+)\s*$", given[index])
            if word and word.group(1) in names and not re.search(r"\b" + word.group(1) + r"\s*=(?!=)", body):
                rows.add((call, f"param {names.index(word.group(1))} {wanted}", "direct", ""))
                continue
            for lock in self.lock_of(given[index], wanted, known, body):
                rows.add((call, lock, "direct", ""))
        self.follow(function, body, known, rows, depth)
        self.memo[key] = rows
        return rows

    def follow(self, function, body, known, rows, depth):
        """Inline helpers as if they stood here; static functions of the same file, one level."""
        for match in re.finditer(r"\b([a-z_]\w*)\s*\(", body):
            name = match.group(1)
            if name in ROUTINES or name in KEYWORDS or name == function.name:
                continue
            callee = self.by_name.get(name) or self.tree.inlines.get(name)
            if callee is None or depth > 3:
                continue
            end = balanced(body, match.end() - 1)
            given = arguments(body[match.end():end])
            owner = self if callee.file == self.path else self.tree.file_of_inline(callee)
            how = "inline" if callee.inline else ("static" if callee.static else "forward")
            for call, lock, inner, via in list(owner.takes(callee, depth + 1)):
                if lock.startswith("param "):
                    _, number, wanted = lock.split()
                    if int(number) >= len(given):
                        continue
                    word = re.match(r"^\s*(\w+)\s*$", given[int(number)])
                    names = [p[0] if p else None for p in (declared(p) for p in function.params)]
                    if word and word.group(1) in names:
                        rows.add((call, f"param {names.index(word.group(1))} {wanted}", how, name))
                        continue
                    for one in self.lock_of(given[int(number)], wanted, known, body):
                        rows.add((call, one, how, name))
                elif callee.inline:
                    if inner != "static":
                        rows.add((call, lock, "inline", name))
                elif callee.static and inner in ("direct", "inline"):
                    rows.add((call, lock, "static", name))


def substitute(macro, given):
    names, body = macro
    table = dict(zip(names, given))
    return re.sub(r"#{0,2}\b([A-Za-z_]\w*)\b", lambda m: table.get(m.group(1), m.group(0)), body)


def read(path):
    with open(path, encoding="latin-1") as stream:
        return without_comments(stream.read())


def sources(root, folders, suffix):
    for folder in folders:
        for here, below, files in os.walk(os.path.join(root, folder)):
            below.sort()
            for name in sorted(files):
                if name.endswith(suffix):
                    yield os.path.join(here, name)


def main():
    root = sys.argv[1].rstrip("/")
    tree = Tree(root)
    headers = list(sources(root, HEADERS, ".h")) + list(sources(root, FOLDERS, ".h"))
    kept = []
    for path in headers:
        try:
            text = read(path)
        except OSError:
            continue
        tree.read_structs(without_conditions(text))
        macros = {}
        tree.read_macros(text, macros)
        for name, macro in macros.items():
            if macro[0] is None:
                tree.aliases.setdefault(name, macro[1])
            tree.macros.setdefault(name, macro)
        plain = without_conditions(text)
        outer = re.sub(r"\{[^{}]*\}", "{}", re.sub(r"\{[^{}]*\}", "", plain))
        tree.read_globals(outer, tree.globals)
        for match in re.finditer(r"^(?:extern\s+|static\s+|inline\s+|__inline__\s+)*(?:struct\s+)(\w+)\s*(\*+)\s*(\w+)\s*\(", plain, re.M):
            tree.returns.setdefault(match.group(3), Type(match.group(1), len(match.group(2))))
        if CALL.search(text):
            kept.append((path, text))
    files = {}
    for path, text in kept:
        name = os.path.relpath(path, root)
        files[name] = File(tree, name, text)
        for function in files[name].functions:
            if function.inline:
                tree.inlines.setdefault(function.name, function)
    tree.file_of_inline = lambda function: files.get(function.file) or files[next(iter(files))]
    out = []
    texts = {}
    for path in sources(root, FOLDERS, ".c"):
        text = read(path)
        name = os.path.relpath(path, root)
        if "struct" in text:
            tree.read_structs(without_conditions(text))
        texts[name] = text
    for name, text in texts.items():
        if not CALL.search(text) and "lock" not in text:
            continue
        file = File(tree, name, text)
        # Structs of this file go before those of other files that have the same name.
        for function in file.functions:
            for call, lock, how, via in file.takes(function):
                if lock.startswith("param "):
                    lock, how = "?", "forward"
                if how == "forward" and lock == "?":
                    how = "direct"
                out.append((function.name, call, lock, how, via, name))
    for row in sorted(set(out)):
        print("\t".join(row))


if __name__ == "__main__":
    sys.exit(main())
