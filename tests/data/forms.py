"""The text form of programs and their fingerprints, after docs/ir.md, whose tables this reads."""

import re
from pathlib import Path

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
FORMS = ["map", "reduce", "scan", "sort", "matmul"]
KINDS = ["contiguous", "uniform", "affine"]
SPECIFICATION = (Path(__file__).parents[2] / "docs" / "ir.md").read_text(encoding="utf-8")
CODES = {name: int(code) for name, code in re.findall(r"^\| `(\w+)` \| (\d+) \|", SPECIFICATION, re.M)}
NAMES = {code: name for name, code in CODES.items()}
# Only the rows of scalar operations have a third column with a number.
ARITY = {name: int(n) for name, n in re.findall(r"^\| `(\w+)` \| \d+ \| (\d) \|", SPECIFICATION, re.M)}
MASK = 2**64 - 1


def parse(lines):
    """A program in the JSON form, from the lines of its text."""
    texts = [line.split("#")[0] for line in lines]
    lines = [text.replace("(", " ( ").replace(")", " ) ").replace(",", " ").split() for text in texts]
    form, rank, *heads = lines[:6]
    program = {"form": {form[1]: {"op": form[2]}} if form[2:] else form[1], "rank": int(rank[1])}
    program |= {head: words for head, *words in heads}
    insts, extra = program["insts"], program["extra"] = [], []
    for line in filter(None, lines[6:]):
        named = line[0].startswith("%")
        assert not named or line[:2] == [f"%{len(insts)}", "="], line
        op, *words = line[2:] if named else line
        dtype = "bool" if op in ("loop", "if", "else", "end", "store") else words.pop(0)
        if op == "const":
            args = [int(words[0], 16) & 0xFFFFFFFF, int(words[0], 16) >> 32]
        elif "(" in words:
            at = words.index("(")
            listed = [int(word[1:]) for word in words[at + 1 : -1]]
            args = [int(word[1:]) for word in words[:at]] + [len(extra), len(listed)]
            extra += listed
        else:
            args = [CODES[word] if word in CODES else int(word.lstrip("%opad")) for word in words]
        if op == "store":
            dtype = program["dests"][args[0]]
        insts.append({"op": op, "dtype": dtype, "args": [*args, 0, 0][:3]})
    return program


def named(form):
    """A form's name, and its operation or None."""
    (pair,) = [(form, {"op": None})] if isinstance(form, str) else form.items()
    return pair[0], pair[1]["op"]


def hashed(program):
    """What a fingerprint takes in."""
    form = program["form"]
    name, op = named(form)
    yield FORMS.index(name) + (CODES[op] << 8 if op else 0)
    yield program["rank"]
    for part, codes in [("operands", DTYPES), ("params", DTYPES), ("dests", DTYPES), ("accesses", KINDS)]:
        yield len(program[part])
        yield from map(codes.index, program[part])
    yield len(program["insts"])
    for inst in program["insts"]:
        a, b, c = inst["args"]
        yield CODES[inst["op"]] | DTYPES.index(inst["dtype"]) << 16 | a << 32
        yield b | c << 32
    yield len(program["extra"])
    yield from program["extra"]
    yield from (0x5BD1E995, 0)


def fingerprint(program):
    """A program's fingerprint as 32 hexadecimal digits."""
    lanes = [0x243F6A8885A308D3, 0x13198A2E03707344]
    for word in hashed(program):
        for lane, multiplier in enumerate((0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93)):
            h = lanes[lane]
            p = (h ^ word) * multiplier
            lanes[lane] = ((h << 23 | h >> 41) + ((p ^ p >> 64) & MASK)) & MASK
    return f"{lanes[0] << 64 | lanes[1]:032x}"
