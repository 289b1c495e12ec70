"""Replays the programs of this folder: an interpreter of docs/ir.md in NumPy that uses nothing of gpupy.

It shows that the documents can be replayed in another language. A value is an array over the whole
iteration space; what a region computes where it does not run is masked.
"""

import json
from pathlib import Path

import numpy as np
from forms import ARITY, NAMES, fingerprint, named, parse
from operations import apply


class Launch:
    """One launch of a program; `values` are the instructions', `lists` the regions'."""

    def __init__(self, case):
        self.insts, self.extra = case["program"]["insts"], case["program"]["extra"]
        self.accesses, self.space = case["accesses"], tuple(case["shape"])
        self.operands = [block(each["dtype"], each["bits"]) for each in case["operands"]]
        self.params = [
            block(*pair)[0] for pair in zip(case["program"]["params"], case["params"], strict=True)
        ]
        self.values, self.lists, self.iterations, self.stored = {}, {}, {}, {}

    def place(self, access):
        """The number of an access at each point."""
        numbers = np.int64(access["offset"])
        for stride, i in zip(access["strides"], np.indices(self.space, np.int64), strict=True):
            numbers = numbers + stride * i
        return numbers

    def run(self, at, end, on):
        """Instructions from `at` up to `end`, at the points where `on` holds."""
        while at < end:
            inst = self.insts[at]
            op, a, b = inst["op"], *inst["args"][:2]
            if op == "loop":
                last, count = self.end_of(at, at), self.values[a]
                self.lists[at] = self.listed(inst)
                for i in range(max(0, np.max(np.where(on, count, 0)))):
                    runs = on & (i < count)
                    self.iterations[at] = np.full(self.space, i, np.int32)
                    self.run(at + 1, last, runs)
                    pairs = zip(self.listed(self.insts[last]), self.lists[at], strict=True)
                    self.lists[at] = [np.where(runs, new, old) for new, old in pairs]
                at = last
            elif op == "if":
                second, holds = self.end_of(at, at), self.values[a]
                last = self.end_of(at, second)
                self.run(at + 1, second, on & holds)
                self.run(second + 1, last, on & ~holds)
                pairs = zip(self.listed(self.insts[second]), self.listed(self.insts[last]), strict=True)
                self.lists[at] = [np.where(holds, first, other) for first, other in pairs]
                at = last
            elif op == "store":
                self.stored[a] = self.values[b]
            else:
                self.values[at] = np.broadcast_to(self.value(op, inst["dtype"], *inst["args"]), self.space)
            at += 1

    def value(self, op, dtype, a, b, c):
        if op == "const":
            return block(dtype, f"{a | b << 32:x}")[0]
        if op == "param":
            return self.params[a]
        if op == "index":
            return self.place(self.accesses[a]).astype(np.int32)
        if op == "load":
            return self.operands[a][self.place(self.accesses[b])]
        if op == "gather":
            return self.operands[a][np.clip(self.values[b], 0, len(self.operands[a]) - 1)]
        if op == "piece":
            below = [self.values[a] < end for end in self.listed({"args": [a, b, c]})]
            return np.where(np.any(below, 0), np.argmax(below, 0), len(below)).astype(np.int32)
        if op == "choose":
            values = self.listed({"args": [a, b, c]})
            values = np.stack([np.broadcast_to(value, self.space) for value in values])
            number = np.clip(np.broadcast_to(self.values[a], self.space), 0, len(values) - 1)
            return np.take_along_axis(values, number[None], 0)[0]
        if op in ("carry", "result"):
            return self.lists[a][b]
        if op == "iter":
            return self.iterations[a]
        return apply(op, dtype, *(self.values[arg] for arg in (a, b, c)[: ARITY[op]]))

    def load(self, which, space):
        """A load of a whole-program form over its space."""
        self.space, launched = space, self.space
        operand, access, _ = self.insts[which]["args"]
        values = self.operands[operand][self.place(self.accesses[access])]
        self.space = launched
        return np.broadcast_to(values, space)

    def whole(self, form, op):
        """Runs what a whole-program form has before its store; the instruction's position."""
        rows = self.load(0, self.space)
        if form == "scan":
            starts, dtype = self.load(1, (*self.space[:-1], -(-self.space[-1] // 256))), str(rows.dtype)
            results = []
            for k in range(self.space[-1]):
                before = results[-1] if k % 256 else starts[..., k // 256]
                results.append(apply(op, dtype, before, rows[..., k]))
            self.values[2] = np.stack(results, -1)
            return 2
        if form == "sort":
            order = np.argsort(rows, -1, kind="stable")
            by_place = self.insts[1]["op"] == "argsort"
            self.values[1] = order.astype(np.int32) if by_place else np.take_along_axis(rows, order, -1)
            return 1
        other = self.load(1, self.space)
        total = apply("mul", str(rows.dtype), rows[..., 0], other[..., 0])
        for k in range(1, self.space[-1]):
            product = apply("mul", str(rows.dtype), rows[..., k], other[..., k])
            total = apply("add", str(rows.dtype), total, product)
        self.space = (*self.space[:-1], 1)
        self.values[2] = total[..., None]
        return 2

    def listed(self, inst):
        _, start, length = inst["args"]
        return [self.values[value] for value in self.extra[start : start + length]]

    def end_of(self, region, at):
        ends = (k for k in range(at + 1, len(self.insts)) if self.insts[k]["op"] in ("else", "end"))
        return next(k for k in ends if self.insts[k]["args"][0] == region)

    def reductions(self, op, at):
        """Runs what stands before the `reduce` at `at`, and all from there; the position behind them."""
        self.run(0, at, np.full(self.space, True))
        results = {}
        while self.insts[at]["op"] == "reduce":
            value, own, _ = self.insts[at]["args"]
            results[at] = self.reduced(NAMES[own] if own else op, self.values[value])
            at += 1
        self.values |= results
        self.space = (*self.space[:-1], -(-self.space[-1] // 256))
        return at

    def reduced(self, op, values):
        """Values combined by the canonical tree."""
        chunks = []
        for start in range(0, self.space[-1], 256):
            points = [values[..., k] for k in range(start, min(start + 256, self.space[-1]))]
            lanes = points[:16]
            for k, point in enumerate(points[16:]):
                lanes[k % 16] = apply(op, str(point.dtype), lanes[k % 16], point)
            for half in (8, 4, 2, 1):
                for k in range(half, min(2 * half, len(lanes))):
                    lanes[k - half] = apply(op, str(values.dtype), lanes[k - half], lanes[k])
                lanes = lanes[:half]
            chunks.append(lanes[0])
        return np.stack(chunks, -1)


def block(dtype, bits):
    """A block's elements from their bits in hexadecimal."""
    size = np.dtype(dtype).itemsize
    return np.array([int(word, 16) for word in bits.split()], f"uint{8 * size}").view(dtype)


def replay(case):
    """What is in each destination block afterwards."""
    launch, form = Launch(case), case["program"]["form"]
    start, (name, op) = 0, named(form)
    if name == "reduce":
        start = next(k for k, inst in enumerate(launch.insts) if inst["op"] == "reduce")
        start = launch.reductions(op, start)
    elif name != "map":
        start = launch.whole(name, op) + 1
    launch.run(start, len(launch.insts), np.full(launch.space, True))
    for slot, dest in enumerate(case["dests"]):
        after = np.repeat(block(dest["dtype"], dest["fill"]), dest["length"])
        after[launch.place(dest)] = launch.stored[slot]
        yield after


def alike(got, wanted, ulp):
    """True where elements are the expected ones: the same bits, any NaN for NaN, or at most `ulp` apart."""
    same = got.view(f"u{got.itemsize}") == wanted.view(f"u{got.itemsize}")
    if got.dtype != np.float32:
        return same
    steps = [
        np.where(x.view("i4") < 0, -(x.view("i4") & 0x7FFFFFFF).astype("i8"), x.view("i4"))
        for x in (got, wanted)
    ]
    nans = np.isnan(got), np.isnan(wanted)
    near = (abs(steps[0] - steps[1]) <= ulp) & (ulp > 0) & ~nans[0] & ~nans[1]
    return same | (nans[0] & nans[1]) | near


def differences(path):
    for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
        if parse(case["text"]) != case["program"]:
            yield f"{path.name}: {case['name']}: the text is another program than the JSON form"
        if fingerprint(case["program"]) != case["fingerprint"]:
            yield f"{path.name}: {case['name']}: the fingerprint is {fingerprint(case['program'])}"
        with np.errstate(all="ignore"):
            results = list(replay(case))
        for slot, (dest, got) in enumerate(zip(case["dests"], results, strict=True)):
            wanted = block(dest["dtype"], dest["bits"])
            wrong = np.flatnonzero(~alike(got, wanted, case["ulp"]))
            if wrong.size:
                at = wrong[0]
                said = f"d{slot}[{at}] is {got[at]!r}, not {wanted[at]!r}; {wrong.size} differ"
                yield f"{path.name}: {case['name']}: {said}"


def test_the_documents_hold_in_an_interpreter_of_the_specification():
    files = sorted(Path(__file__).parent.glob("*.json"))
    assert files
    assert [difference for path in files for difference in differences(path)] == []


if __name__ == "__main__":
    test_the_documents_hold_in_an_interpreter_of_the_specification()
