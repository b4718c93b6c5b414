"""Random nests under random schedules against brute force.

For every seed a small nest of affine accesses is made, and a schedule of blocks, skews, permutations, unrolled,
parallel and vectorised loops. The oracle enumerates the nest's iterations in program order and in the order that the
schedule asks for: it is legal if no two accesses of one element, of which one writes, change places (for a parallel
loop: if no two of its iterations have such accesses).

 * An illegal schedule must be refused.
 * Of the legal ones 95 % at least must be accepted.
 * What is accepted is compiled, together with the nest without schedule, and both must leave the same in memory.

A failing seed prints its module. usage: property.py [--seeds N] [--first SEED] [--show SEED]
"""
import argparse
import itertools
import math
import os
import random
import re
import subprocess
import sys
import tempfile

try:
    import onyx_counts
    import onyx_site
    BUILD = onyx_site.BUILD
except ImportError:
    onyx_counts = None
    BUILD = os.environ.get("ONYX_BUILD", "build")

OPT = os.environ.get("MLIR_OPT", "mlir-opt-22")
PLUGIN = os.path.join(BUILD, "lib", "libonyx.so")
BATCH = 50


# --- Nests ---


class Loop:
    """One loop of the schedule: its name, and its variable's value for an iteration given as {dim: value}."""

    def __init__(self, name, kind, parent=None, partner=None, factor=0, dim=None):
        self.name, self.kind, self.parent, self.partner = name, kind, parent, partner
        self.factor, self.dim = factor, dim
        self.base = 0  # lower bound of the original: tiles start there

    def step(self):
        step = self.parent.step() if self.parent else 1
        return step * self.factor if self.kind == "block" else step

    def start(self, at):
        """Where the tile that holds the iteration starts; tiles of tiles start anew in each."""
        if self.kind == "original":
            return self.base
        if self.kind == "tile":
            return self.partner.value(at)
        return self.parent.start(at)

    def value(self, at):
        if self.kind == "original":
            return at[self.dim]
        value = self.parent.value(at)
        if self.kind == "second":
            return value + self.factor * self.partner.parent.value(at)
        if self.kind == "block":
            start = self.parent.start(at)
            return start + (value - start) // self.step() * self.step()
        return value  # a tile loop passes where what was blocked did


class Band:
    """Loops that one iterate runs, with their schedule."""

    def __init__(self, dims):
        self.dims = dims
        self.loops = []
        self.ops = []
        self.marks = {}  # loop name: ("unroll", factor) ...
        self.skewed = self.reordered = False
        self.inexact = False  # tiles of skewed loops start where the implementation says


class Nest:
    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.seed = seed
        self.rank = r.choice([1, 2, 2, 2, 3, 3, 4])
        budget = 400
        self.lower, self.extent, self.dynamic = [], [], []
        for _ in range(self.rank):
            n = r.randint(1, max(1, min(9, budget)))
            budget = max(1, budget // n)
            self.lower.append(r.choice([0, 0, 1, 2]))
            self.extent.append(r.choice([n] * 9 + [0]) if self.rank < 3 else n)
            self.dynamic.append(r.random() < 0.4)
        self.kind = "perfect" if self.rank == 1 else r.choice(["perfect", "perfect", "perfect", "imperfect"])
        self.iter_args = self.kind == "perfect" and r.random() < 0.1
        self.split = r.randint(1, self.rank - 1) if self.kind == "imperfect" else self.rank
        self.arrays = [r.randint(1, 3) for _ in range(2)]
        dims = list(range(self.rank))
        if self.kind == "perfect":
            self.statements = [self.statement(dims) for _ in range(r.choice([1, 1, 2, 3]))]
        else:
            outer = dims[:self.split]
            self.before = [self.statement(outer) for _ in range(r.randint(0, 1))]
            self.statements = [self.statement(dims) for _ in range(r.choice([1, 2]))]
            self.after = [self.statement(outer) for _ in range(r.randint(0 if self.before else 1, 1))]
        self.place_arrays()
        self.outer = self.schedule(dims[:self.split])
        self.inner = self.schedule(dims[self.split:]) if self.kind == "imperfect" else None

    # An access is (array, [({dim: coefficient}, offset)]) ; a statement is (target, sources, constant).
    def access(self, dims, plain=0.6):
        r = self.r
        array = r.randrange(2)
        index = []
        free = dims[:]
        r.shuffle(free)
        for _ in range(self.arrays[array]):
            terms = {}
            if free and r.random() < plain:
                terms[free.pop()] = r.choice([1, 1, 1, 1, 2, -1])
            elif r.random() < 0.3:
                for d in dims:
                    if r.random() < 0.4:
                        terms[d] = r.choice([1, 1, -1, 2])
            index.append((terms, r.choice([0, 0, 0, 1, -1, 2, -2])))
        return array, index

    def shifted(self, access):
        r = self.r
        return access[0], [(t, o + r.choice([0, 0, 1, -1])) for t, o in access[1]]

    def statement(self, dims):
        r = self.r
        target = self.access(dims, 0.9)
        sources = [self.shifted(target) if r.random() < 0.6 else self.access(dims) for _ in range(r.randint(1, 2))]
        return target, sources, r.randint(1, 9)

    def all_statements(self):
        if self.kind == "perfect":
            return self.statements
        return self.before + self.statements + self.after

    def place_arrays(self):
        """Sizes of the arrays and what to add so that every index is in range."""
        low = [[0] * n for n in self.arrays]
        high = [[0] * n for n in self.arrays]
        for target, sources, _ in self.all_statements():
            for array, index in [target] + sources:
                for k, (terms, offset) in enumerate(index):
                    values = [offset, offset]
                    for d, c in terms.items():
                        ends = [c * self.lower[d], c * (self.lower[d] + max(0, self.extent[d] - 1))]
                        values[0] += min(ends)
                        values[1] += max(ends)
                    low[array][k] = min(low[array][k], values[0])
                    high[array][k] = max(high[array][k], values[1])
        self.shift = [[-v for v in l] for l in low]
        self.shape = [[h - l + 1 for l, h in zip(ls, hs)] for ls, hs in zip(low, high)]

    # --- Schedules ---

    def schedule(self, dims):
        r = self.r
        band = Band(dims)
        tag = f"{dims[0]}"
        loops = []
        for i, d in enumerate(dims):
            loop = Loop(f"%l{tag}#{i}" if len(dims) > 1 else f"%l{tag}", "original", dim=d)
            loop.base = self.lower[d]
            loops.append(loop)
        count = 0
        if len(loops) > 1 and not self.iter_args and r.random() < 0.2:
            i, j = r.sample(range(len(loops)), 2)
            factor = r.choice([1, 1, 2, -1])
            a = Loop(f"%s{tag}a", "first", loops[i], factor=factor)
            b = Loop(f"%s{tag}b", "second", loops[j], factor=factor)
            b.partner = a
            a.partner = b
            band.ops.append(f"{a.name}, {b.name} = krnl.skew {loops[i].name}, {loops[j].name} {factor} : "
                            "(!krnl.loop, !krnl.loop) -> (!krnl.loop, !krnl.loop)")
            loops[i], loops[j] = a, b
            band.skewed = True
        for _ in range(r.choice([0, 1, 1, 2, 3])):
            i = r.randrange(len(loops))
            tile = r.randint(1, 5)
            outer = Loop(f"%b{tag}_{count}", "block", loops[i], factor=tile)
            inner = Loop(f"%t{tag}_{count}", "tile", loops[i], outer, tile)
            count += 1
            band.inexact = band.inexact or band.skewed
            band.ops.append(f"{outer.name}, {inner.name} = krnl.block {loops[i].name} {tile} : "
                            "(!krnl.loop) -> (!krnl.loop, !krnl.loop)")
            loops[i:i + 1] = [outer, inner]
        if len(loops) > 1 and r.random() < 0.7:
            order = loops[:]
            r.shuffle(order)
            order = self.keep_tiles(order)
            if order != loops:
                names = ", ".join(l.name for l in loops)
                positions = ", ".join(str(order.index(l)) for l in loops)
                types = ", ".join("!krnl.loop" for _ in loops)
                band.ops.append(f"krnl.permute({names}) [{positions}] : {types}")
                band.reordered = True
                loops = order
        band.loops = loops
        self.mark(band)
        return band

    @staticmethod
    def keep_tiles(order):
        def before(a, b):  # must a stay outside b?
            while b is not None:
                if b.kind == "tile":
                    t = a
                    while t is not None:
                        if t is b.partner:
                            return True
                        t = t.parent
                b = b.parent
            return False
        left, out = order[:], []
        while left:
            for l in left:
                if not any(before(m, l) for m in left if m is not l):
                    out.append(l)
                    left.remove(l)
                    break
        return out

    def mark(self, band):
        r = self.r
        for l in band.loops:
            if r.random() < 0.12:
                band.marks[l.name] = ("parallel", 0)
                band.ops.append(f"krnl.parallel({l.name}) : !krnl.loop")
            elif r.random() < 0.15:
                factor = r.randint(2, 4)
                band.marks[l.name] = ("unroll", factor)
                band.ops.append(f"krnl.unroll {l.name} {factor} : !krnl.loop")
        last = band.loops[-1]
        if last.name not in band.marks and last.step() == 1 and r.random() < 0.2:
            band.marks[last.name] = ("vectorize", 4)
            band.ops.append(f"krnl.vectorize {last.name} {r.choice([2, 4, 8])} : !krnl.loop")

    # --- The oracle ---

    def points(self, dims):
        return [dict(zip(dims, p)) for p in itertools.product(
            *[range(self.lower[d], self.lower[d] + self.extent[d]) for d in dims])]

    def element(self, access, at):
        array, index = access
        return (array,) + tuple(sum(c * at[d] for d, c in t.items()) + o for t, o in index)

    def touched(self, statements, at):
        reads, writes = set(), set()
        for target, sources, _ in statements:
            reads.update(self.element(s, at) for s in sources)
            writes.add(self.element(target, at))
        return reads, writes

    def events(self, scheduled):
        """(keys, reads, writes) in order: keys are the values of the loops around, outer then inner ones."""
        def ordered(band, points):
            if not scheduled:
                return [((), p) for p in points]
            return sorted(((tuple(l.value(p) for l in band.loops), p) for p in points), key=lambda e: e[0])
        out = []
        for key, p in ordered(self.outer, self.points(self.outer.dims)):
            name = tuple(sorted(p.items()))
            if self.kind == "perfect":
                out.append((key, name, *self.touched(self.statements, p)))
                continue
            if self.before:
                out.append((key + ("a",), name, *self.touched(self.before, p)))
            for inner_key, q in ordered(self.inner, self.points(self.inner.dims)):
                both = {**p, **q}
                out.append((key + ("b",) + inner_key, tuple(sorted(both.items())),
                            *self.touched(self.statements, both)))
            if self.after:
                out.append((key + ("c",), name, *self.touched(self.after, p)))
        return out

    def conflicts(self):
        """Pairs (i, j), i < j, of events in program order that touch one element, one of them writing."""
        events = self.events(False)
        users = {}
        for i, (_, _, reads, writes) in enumerate(events):
            for e in reads | writes:
                users.setdefault(e, []).append((i, e in writes))
        pairs = set()
        for list_ in users.values():
            for (i, wi), (j, wj) in itertools.combinations(list_, 2):
                if i != j and (wi or wj):
                    pairs.add((i, j))
        return events, pairs

    def is_legal(self):
        """True, False, or None where the oracle does not know. A bound that is an argument stands for any: those loops
        are looked at with so many iterations that every tile is there twice."""
        given = self.extent[:]
        loops = [l for b in (self.outer, self.inner) if b for l in b.loops]
        enough = True
        for d in range(self.rank):
            if self.dynamic[d]:
                steps = [l.step() for l in loops if self.dim_of(l) == d]
                self.extent[d] = max([given[d], 5] + [2 * s + 1 for s in steps])
        while math.prod(self.extent) > 3000 and any(e > g for e, g in zip(self.extent, given)):
            d = max(range(self.rank), key=lambda d: self.extent[d] if self.extent[d] > given[d] else 0)
            self.extent[d] = max(given[d], self.extent[d] // 2)
            enough = False
        try:
            verdict = self.is_legal_here()
        finally:
            self.extent = given
        return verdict if enough or verdict is False else None

    @staticmethod
    def dim_of(loop):
        while loop.kind != "original":
            loop = loop.parent
        return loop.dim

    def is_legal_here(self):
        bands = [b for b in (self.outer, self.inner) if b]
        if any(b.inexact for b in bands):
            return None
        marks = {name: kind for b in bands for name, (kind, _) in b.marks.items()}
        if self.iter_args:
            if any(k in ("parallel", "vectorize") for k in marks.values()):
                return False
            values = [tuple(l.value(p) for l in self.outer.loops) for p in self.points(self.outer.dims)]
            return values == sorted(values)
        plain, pairs = self.conflicts()
        scheduled = self.events(True)
        place, keys = {}, {}
        for i, (key, name, _, _) in enumerate(scheduled):
            phase = next((k for k in key if isinstance(k, str)), "")
            place[phase, name] = i
            keys[i] = key
        # Program order has no keys: tell the phases of an imperfect nest by counting.
        order = []
        seen = {}
        for _, name, _, _ in plain:
            seen[name] = seen.get(name, 0) + 1
            order.append((name, seen[name]))
        phases = [""] if self.kind == "perfect" else (["a"] if self.before else []) + (["c"] if self.after else [])
        where = []
        for name, nth in order:
            if self.kind == "perfect":
                where.append(place["", name])
            elif len(name) == self.rank:
                where.append(place["b", name])
            else:
                where.append(place[phases[nth - 1], name])
        names = [l.name for l in self.outer.loops]
        if self.inner:
            names += [None] + [l.name for l in self.inner.loops]
        legal = True
        for i, j in pairs:
            a, b = where[i], where[j]
            if a > b:
                return False
            for k, (x, y) in enumerate(zip(keys[a], keys[b])):
                if x != y:
                    if k < len(names) and marks.get(names[k]) in ("parallel", "vectorize"):
                        if marks[names[k]] == "parallel":
                            return False
                        legal = None  # may be right all the same: a distance of all lanes, or one that waits
                    break
        return legal

    # --- Text ---

    def bound(self, d):
        low = self.lower[d]
        return f"{low} to %n{d}" if self.dynamic[d] else f"{low} to {low + self.extent[d]}"

    def memref(self, array):
        return "memref<" + "".join(f"{n}x" for n in self.shape[array]) + "i64>"

    def index_code(self, access, fresh):
        array, index = access
        code, names = [], []
        for k, (terms, offset) in enumerate(index):
            value = fresh()
            code.append(f"{value} = arith.constant {offset + self.shift[array][k]} : index")
            for d, c in sorted(terms.items()):
                factor, product, total = fresh(), fresh(), fresh()
                code.append(f"{factor} = arith.constant {c} : index")
                code.append(f"{product} = arith.muli %v{d}, {factor} : index")
                code.append(f"{total} = arith.addi {value}, {product} : index")
                value = total
            names.append(value)
        return code, ", ".join(names)

    def statement_code(self, statement, fresh):
        target, sources, constant = statement
        value = fresh()
        code = [f"{value} = arith.constant {constant} : i64"]
        for s in sources:
            index, names = self.index_code(s, fresh)
            load, three, product, total = fresh(), fresh(), fresh(), fresh()
            code += index
            code += [f"{load} = krnl.load %a{s[0]}[{names}] : {self.memref(s[0])}",
                     f"{three} = arith.constant 3 : i64",
                     f"{product} = arith.muli {value}, {three} : i64",
                     f"{total} = arith.addi {product}, {load} : i64"]
            value = total
        index, names = self.index_code(target, fresh)
        code += index
        code.append(f"krnl.store {value}, %a{target[0]}[{names}] : {self.memref(target[0])}")
        return code

    def arguments(self):
        return ", ".join([f"%a{k}: {self.memref(k)}" for k in range(2)] +
                         [f"%n{d}: index" for d in range(self.rank) if self.dynamic[d]])

    def function(self, scheduled):
        counter = itertools.count()
        fresh = lambda: f"%x{next(counter)}"
        name = f"@s{self.seed}_{'scheduled' if scheduled else 'plain'}"
        out = [f"func.func {name}({self.arguments()}) {{"]

        def define(band):
            tag = band.dims[0]
            n = len(band.dims)
            out.append(f"  %l{tag}{':' + str(n) if n > 1 else ''} = krnl.define_loops {n}")
            if scheduled:
                out.extend("  " + op for op in band.ops)

        def iterate(band, head=""):
            tag = band.dims[0]
            originals = [f"%l{tag}#{i}" if len(band.dims) > 1 else f"%l{tag}" for i in range(len(band.dims))]
            loops = ", ".join(l.name for l in band.loops) if scheduled else ", ".join(originals)
            with_ = ", ".join(f"{l} -> %v{d} = {self.bound(d)}" for l, d in zip(originals, band.dims))
            out.append(f"  {head}krnl.iterate({loops}) with ({with_})")

        define(self.outer)
        if self.inner:
            define(self.inner)
        if self.iter_args:
            out.append("  %zero = arith.constant 1 : i64")
            iterate(self.outer, "%sum = ")
            out[-1] += " iter_args(%acc = %zero) -> (i64) {"
            for s in self.statements:
                out.extend("    " + c for c in self.statement_code(s, fresh))
            index, names = self.index_code(self.statements[0][0], fresh)
            out.extend("    " + c for c in index)
            array = self.statements[0][0][0]
            out += [f"    %last = krnl.load %a{array}[{names}] : {self.memref(array)}",
                    "    %five = arith.constant 5 : i64", "    %p = arith.muli %acc, %five : i64",
                    "    %q = arith.addi %p, %last : i64", "    krnl.yield %q : i64", "  }"]
            zeros = ", ".join(["%c0"] * self.arrays[0])
            out += ["  %c0 = arith.constant 0 : index", f"  krnl.store %sum, %a0[{zeros}] : {self.memref(0)}"]
        else:
            iterate(self.outer)
            out[-1] += " {"
            if self.kind == "perfect":
                for s in self.statements:
                    out.extend("    " + c for c in self.statement_code(s, fresh))
            else:
                for s in self.before:
                    out.extend("    " + c for c in self.statement_code(s, fresh))
                iterate(self.inner)
                out[-1] += " {"
                for s in self.statements:
                    out.extend("      " + c for c in self.statement_code(s, fresh))
                out.append("    }")
                for s in self.after:
                    out.extend("    " + c for c in self.statement_code(s, fresh))
            out.append("  }")
        out += ["  return", "}"]
        return "\n".join(out)

    def check_function(self):
        """Runs both on equal arrays; the number of elements that differ."""
        out = [f"func.func @s{self.seed}_check() -> i64 {{", "  %zero = arith.constant 0 : i64",
               "  %one = arith.constant 1 : i64"]
        for d in range(self.rank):
            if self.dynamic[d]:
                out.append(f"  %n{d} = arith.constant {self.lower[d] + self.extent[d]} : index")
        for k in range(2):
            for which in "pq":
                out.append(f"  %{which}{k} = memref.alloc() : {self.memref(k)}")
        for k in range(2):
            n = self.arrays[k]
            loops = [f"%f{k}#{i}" if n > 1 else f"%f{k}" for i in range(n)]
            with_ = ", ".join(f"{l} -> %i{k}_{i} = 0 to {self.shape[k][i]}" for i, l in enumerate(loops))
            index = ", ".join(f"%i{k}_{i}" for i in range(n))
            out.append(f"  %f{k}{':' + str(n) if n > 1 else ''} = krnl.define_loops {n}")
            out.append(f"  krnl.iterate({', '.join(loops)}) with ({with_}) {{")
            value = f"%i{k}_0"
            for i in range(1, n):
                out += [f"    %c{k}_{i} = arith.constant 7 : index",
                        f"    %m{k}_{i} = arith.muli {value}, %c{k}_{i} : index",
                        f"    %k{k}_{i} = arith.addi %m{k}_{i}, %i{k}_{i} : index"]
                value = f"%k{k}_{i}"
            out += [f"    %w{k} = arith.index_cast {value} : index to i64"]
            out += [f"    krnl.store %w{k}, %{which}{k}[{index}] : {self.memref(k)}" for which in "pq"]
            out.append("  }")
        types = ", ".join([self.memref(0), self.memref(1)] + ["index" for d in self.dynamic if d])
        extra = "".join(f", %n{d}" for d in range(self.rank) if self.dynamic[d])
        for which, kind in (("p", "plain"), ("q", "scheduled")):
            out.append(f"  func.call @s{self.seed}_{kind}(%{which}0, %{which}1{extra}) : ({types}) -> ()")
        total = "%zero"
        for k in range(2):
            n = self.arrays[k]
            loops = [f"%g{k}#{i}" if n > 1 else f"%g{k}" for i in range(n)]
            with_ = ", ".join(f"{l} -> %j{k}_{i} = 0 to {self.shape[k][i]}" for i, l in enumerate(loops))
            index = ", ".join(f"%j{k}_{i}" for i in range(n))
            out.append(f"  %g{k}{':' + str(n) if n > 1 else ''} = krnl.define_loops {n}")
            out.append(f"  %d{k} = krnl.iterate({', '.join(loops)}) with ({with_}) "
                       f"iter_args(%e{k} = {total}) -> (i64) {{")
            out += [f"    %y{k} = krnl.load %p{k}[{index}] : {self.memref(k)}",
                    f"    %z{k} = krnl.load %q{k}[{index}] : {self.memref(k)}",
                    f"    %t{k} = arith.cmpi ne, %y{k}, %z{k} : i64",
                    f"    %u{k} = arith.extui %t{k} : i1 to i64",
                    f"    %h{k} = arith.addi %e{k}, %u{k} : i64", f"    krnl.yield %h{k} : i64", "  }"]
            total = f"%d{k}"
        for k in range(2):
            for which in "pq":
                out.append(f"  memref.dealloc %{which}{k} : {self.memref(k)}")
        out += [f"  return {total} : i64", "}"]
        return "\n".join(out)


# --- Running ---


def refused(nest):
    """None if the schedule is accepted, else what is said against it."""
    done = subprocess.run([OPT, f"--load-dialect-plugin={PLUGIN}", "--pass-pipeline=builtin.module(convert-krnl-to-affine)",
                           "-o", os.devnull], input=nest.function(True), capture_output=True, text=True, timeout=60)
    if done.returncode == 0:
        return None
    first = next((l for l in done.stderr.splitlines() if "error:" in l), done.stderr[:300])
    if done.returncode not in (1,) or "error:" not in done.stderr:
        return "CRASH " + first
    return first


def differences(nests, folder):
    """{seed: elements that differ}, compiled by onyx-compile and run by onyx-run."""
    n = len(nests)
    parts = []
    for nest in nests:
        parts += [nest.function(False), nest.function(True), nest.check_function()]
    main = [f"func.func @main_graph(%x: memref<1xi64>, %status: memref<4xi64> {{krnl.status}}) -> memref<{n}xi64> {{",
            f"  %r = memref.alloc() : memref<{n}xi64>"]
    for k, nest in enumerate(nests):
        main += [f"  %v{k} = func.call @s{nest.seed}_check() : () -> i64", f"  %c{k} = arith.constant {k} : index",
                 f"  krnl.store %v{k}, %r[%c{k}] : memref<{n}xi64>"]
    main += [f"  return %r : memref<{n}xi64>", "}",
             '"krnl.entry_point"() {func = @main_graph, numInputs = 1 : i32, numOutputs = 1 : i32, '
             f'signature = "in x tensor<1xi64>\\0Aout r tensor<{n}xi64>\\0A"}} : () -> ()']
    model = os.path.join(folder, "nests.mlir")
    library = os.path.join(folder, "nests.so")
    pipeline = os.path.join(folder, "loops.pipeline")
    with open(model, "w") as f:
        f.write("\n".join(parts + main) + "\n")
    with open(pipeline, "w") as f:
        f.write("convert-krnl-to-affine,\nonyx-krnl-to-llvm\n")
    done = subprocess.run([os.path.join(BUILD, "bin", "onyx-compile"), model, "-o", library, "--pipeline", pipeline,
                           "-O1"], capture_output=True, text=True, timeout=600)
    if done.returncode:
        sys.exit(f"onyx-compile failed on seeds {[x.seed for x in nests]}:\n{done.stdout}{done.stderr}")
    saved = os.path.join(folder, "out")
    os.makedirs(saved, exist_ok=True)
    done = subprocess.run([os.path.join(BUILD, "bin", "onyx-run"), library, "--input", "1xi64=0", "--expected-output",
                           f"{n}xi64=" + " ".join("0" * n)], capture_output=True, text=True, timeout=300)
    if done.returncode == 0:
        return {}
    found = re.findall(r"\[(\d+)\]", done.stdout + done.stderr)
    return {nests[int(found[0])].seed if found else -1: done.stdout + done.stderr}


def main():
    parser = argparse.ArgumentParser()
    full = os.environ.get("ONYX_FULL")
    parser.add_argument("--seeds", type=int, default=2000 if full else 100)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--show", type=int)
    options = parser.parse_args()
    if options.show is not None:
        nest = Nest(options.show)
        print(nest.function(True), f"\n// legal: {nest.is_legal()}, refused: {refused(nest)}")
        return
    accepted, failures = [], []
    legal = legal_accepted = illegal = 0
    for seed in range(options.first, options.first + options.seeds):
        nest = Nest(seed)
        verdict, message = nest.is_legal(), refused(nest)
        if message and message.startswith("CRASH"):
            failures.append((nest, message))
        elif verdict is False:
            illegal += 1
            if message is None:
                failures.append((nest, "illegal, but accepted"))
        elif verdict is True and "cannot be vectorised" not in (message or ""):
            legal += 1
            legal_accepted += message is None
            if message and os.environ.get("VERBOSE"):
                print(f"seed {seed}: legal, but {message}")
        if message is None and verdict is not False:
            accepted.append(nest)
    with tempfile.TemporaryDirectory() as folder:
        for i in range(0, len(accepted), BATCH):
            batch = accepted[i:i + BATCH]
            wrong = differences(batch, folder)
            while wrong:
                seed, text = wrong.popitem()
                bad = next((x for x in batch if x.seed == seed), batch[0])
                failures.append((bad, "another result than without schedule\n" + text))
                batch = [x for x in batch if x is not bad]
                wrong = differences(batch, folder) if batch else {}
    for nest, why in failures:
        print(f"--- seed {nest.seed}: {why}\n{nest.function(True)}\n")
    rate = legal_accepted / legal if legal else 1.0
    print(f"{options.seeds} nests: {illegal} illegal, {legal} legal of which {legal_accepted} accepted ({rate:.1%}), "
          f"{len(accepted)} compiled and run, {len(failures)} failures")
    if rate < 0.95:
        print("fewer than 95 % of the legal schedules are accepted")
    if onyx_counts:
        onyx_counts.write("krnl-property", options.seeds - len(failures), len(failures) + (rate < 0.95), 0)
    sys.exit(bool(failures) or rate < 0.95)


if __name__ == "__main__":
    main()
