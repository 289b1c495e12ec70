"""State of every kind that changes between calls of a traced function, which does not repeat its trace then.

Not here: guards of what functions of arrays read (``test_jit_guards.py``), clocks and files
(``test_jit_pure.py``).
"""

import abc
import array
import collections
import dataclasses
import enum
import sys
import types
import weakref

import numpy as np
import pytest

import gpupy as gp


@pytest.fixture(autouse=True)
def cpu():
    gp._gpupy.reconfigure("cpu", strict=False)


def x():
    return gp.arange(1.0, 4.0)


class Length(float):
    pass


class Name(str):
    __slots__ = ("rate",)


class Color(enum.IntEnum):
    RED = 1


class Plain(enum.Enum):
    ONE = 1.0


def number_subclasses():
    length, count = Length(2.0), type("Count", (int,), {})(3)
    length.unit = count.unit = 2.0
    Color.RED.weight = 1.0
    name = Name("a")
    name.rate = 3.0
    yield gp.jit(lambda x: x * length.unit * count.unit * Color.RED.weight * name.rate * length), (x(),)
    length.unit = 5.0
    yield
    count.unit = 7.0
    yield
    Color.RED.weight = 9.0
    yield
    name.rate = 11.0
    yield
    Length.__mul__ = Length.__rmul__ = lambda self, other: 1.0
    yield
    del Length.__mul__, Length.__rmul__


def number_subclasses_as_arguments():
    length = Length(2.0)
    length.unit = 2.0
    yield gp.jit(lambda x, k: x * k.unit), (x(), length)
    length.unit = 3.0


def class_attributes_of_number_subclasses():
    class Unit(int):
        scale = 2.0

    yield gp.jit(lambda x, k: x * k.scale * Unit.scale), (x(), Unit(1))
    Unit.scale = 5.0


def supers():
    class A:
        k = 1.0

        def get(self):
            return 1.0

    class B(A):
        pass

    class C(B):
        def get(self):
            return super().get() * 2 + super().k

    one = C()
    yield gp.jit(lambda x: x * one.get() + super(C, one).k * B.get(one)), (x(),)
    A.get = lambda self: 5.0
    yield
    A.k = 7.0
    yield
    B.get = lambda self: 11.0
    yield
    B.k = 13.0
    yield
    C.__bases__ = (type("D", (), {"get": lambda self: 17.0, "k": 19.0}), A)


def keyword_defaults():
    def helper(x, *, k=2.0, of=[3.0]):  # noqa: B006  (what is tested)
        return x * k * of[0]

    yield gp.jit(lambda x: helper(x)), (x(),)
    helper.__kwdefaults__["k"] = 5.0
    yield
    helper.__kwdefaults__["of"][0] = 7.0
    yield
    helper.__kwdefaults__ = {"k": 9.0, "of": [1.0]}


def defaults_of_special_methods():
    class Scale:
        def __call__(self, x, k=2.0, *, j=3.0):
            return x * k * j

    one = Scale()
    yield gp.jit(lambda x: one(x)), (x(),)
    Scale.__call__.__defaults__ = (5.0,)
    yield
    Scale.__call__.__kwdefaults__["j"] = 7.0


def class_and_static_methods():
    class Made:
        k = 2.0

        @classmethod
        def of(cls, x, j=3.0):
            return x * cls.k * j

        @staticmethod
        def bare(x, j=3.0):
            return x + j

        @property
        def part(self):
            return types.SimpleNamespace if self.k > 1e9 else Inner

    class Inner:
        k = 2.0

    one = Made()
    yield gp.jit(lambda x: Made.of(x) * one.of(1.0) + one.bare(x) * one.part.k), (x(),)
    Made.k = 5.0
    yield
    Made.__dict__["of"].__func__.__defaults__ = (7.0,)
    yield
    Made.__dict__["bare"].__func__.__defaults__ = (7.0,)
    yield
    Inner.k = 9.0
    yield
    Made.part = property(lambda self: Made)


def made_inside():
    class Point:
        scale = 2.0

        def __init__(self, v):
            self.v = v

    def helper(point):
        return point.v * point.scale

    yield gp.jit(lambda x: helper(Point(x)) + Point(x).scale), (x(),)
    Point.scale = 5.0
    yield
    Point.__init__ = lambda self, v: setattr(self, "v", v + 1)


def special_methods_that_come_later():
    class Bare:
        pass

    one, other = Bare(), Bare()
    yield gp.jit(lambda x: x * (2 if one else 3) * (5 if one == other else 7) + len(f"{one}" * 0)), (x(),)
    Bare.__bool__ = lambda self: False
    yield
    Bare.__eq__ = lambda self, other: True
    yield
    del Bare.__bool__
    Bare.__len__ = lambda self: 0


def slots_and_classes():
    class One:
        __slots__ = ("k",)

        def get(self):
            return 2.0

    class Other:
        __slots__ = ("k",)

        def get(self):
            return 3.0

    one = One()
    one.k = 1.0
    yield gp.jit(lambda x: x * one.get() * one.k), (x(),)
    one.__class__ = Other


def named_tuples():
    Pair = collections.namedtuple("Pair", "a b")
    pair = Pair(2.0, 3.0)
    Pair.scale = 2.0
    yield gp.jit(lambda x, p: x * pair.a * pair.scale * p.b * p.scale), (x(), Pair(5.0, 7.0))
    Pair.scale = 5.0


def data_classes():
    @dataclasses.dataclass
    class Parameters:
        k: float
        of: list = dataclasses.field(default_factory=lambda: [1.0])

    given = Parameters(2.0)
    yield gp.jit(lambda x, p: x * given.k * p.of[0] + Parameters(3.0).k), (x(), given)
    given.k = 5.0
    yield
    given.of[0] = 7.0
    yield
    given.of = [9.0]


def enumerations():
    yield gp.jit(lambda x: x * Plain.ONE.value * Color.RED), (x(),)
    Plain.ONE._value_ = 3.0
    yield
    Plain.ONE._value_ = 1.0


def modules():
    module = types.ModuleType("of_a_test")
    module.k, module.inner = 2.0, types.ModuleType("inner")
    module.inner.k = 3.0
    one = types.ModuleType("one")
    one.k = 5.0
    pick = [module, one]
    yield gp.jit(lambda x: x * module.k * module.inner.k * pick[1].k), (x(),)
    module.k = 7.0
    yield
    module.inner.k = 9.0
    yield
    one.k = 11.0
    yield
    module.inner = one


def imported_inside():
    sys.modules["of_a_test"] = types.ModuleType("of_a_test")
    sys.modules["of_a_test"].k = 2.0

    def read(x):
        import of_a_test
        from of_a_test import k

        return x * of_a_test.k * k

    yield gp.jit(read), (x(),)
    sys.modules["of_a_test"].k = 3.0
    yield
    sys.modules["of_a_test"] = types.SimpleNamespace(k=5.0)
    yield
    sys.modules["of_a_test"].k = 7.0


def function_attributes():
    def helper(x):
        return x * helper.rate

    helper.rate = 2.0
    yield gp.jit(lambda x: helper(x) + len(helper.__name__)), (x(),)
    helper.rate = 3.0
    yield
    helper.__name__ = "another"


def objects_that_are_not_watched():
    spaced = types.SimpleNamespace(k=2.0)
    numbers = array.array("d", [2.0])
    queue = collections.deque([2.0])
    many = dict(enumerate(range(300)))
    record = np.zeros(1, [("a", "f8")])[0]
    proxy = weakref.proxy(Length)
    raw = bytearray(b"\2")
    listed = gp.TypedList([[2.0]])

    def read(x):
        total = (
            x * spaced.k * numbers[0] * queue[0] * many[0] + float(record["a"]) + proxy.real.__class__.__len__
        )
        return total

    def reads(x):
        return x * spaced.k + numbers[0] * queue[0] + many[0] + float(record["a"]) + raw[0] + len(listed)

    yield gp.jit(reads), (x(),)
    spaced.k = 3.0
    yield
    numbers[0] = 5.0
    yield
    queue[0] = 7.0
    yield
    many[0] = 9
    yield
    record["a"] = 11.0
    yield
    raw[0] = 13
    yield
    listed.append([1.0])


def chosen_by_arguments():
    yield gp.jit(lambda x, dt: x * (dt / np.timedelta64(1, "s"))), (x(), np.timedelta64(1, "s"))


def cells_of_classes():
    k = 2.0

    class Closed:
        def __len__(self):
            return int(k)

        def __call__(self, x):
            return x * k

    one = Closed()
    yield gp.jit(lambda x: one(x) + len(one)), (x(),)
    k = 5.0


def metaclasses():
    class Meta(type):
        def __len__(cls):
            return cls.count

        @property
        def rate(cls):
            return cls.count * 2.0

    class Made(metaclass=Meta):
        count = 2

    yield gp.jit(lambda x: x * len(Made) + Made.rate), (x(),)
    Made.count = 3
    yield
    Meta.rate = property(lambda cls: 7.0)
    yield
    Meta.__len__ = lambda cls: 11


def abstract_classes():
    class Shape(abc.ABC):
        @abc.abstractmethod
        def area(self): ...

    class Square(Shape):
        side = 2.0

        def area(self):
            return self.side**2

    one = Square()
    yield gp.jit(lambda x: x * one.area() * (2 if isinstance(one, Shape) else 3)), (x(),)
    Square.side = 3.0
    yield
    Square.area = lambda self: 7.0


def kernels():
    rate = 2.0

    @gp.kernel
    def scaled(v):
        return v * rate

    yield gp.jit(lambda x: scaled(x)), (x(),)
    rate = 3.0


STATE = [
    *(number_subclasses, number_subclasses_as_arguments, class_attributes_of_number_subclasses, supers),
    *(keyword_defaults, defaults_of_special_methods, class_and_static_methods, made_inside),
    *(special_methods_that_come_later, slots_and_classes, named_tuples, data_classes, enumerations, modules),
    *(imported_inside, function_attributes, objects_that_are_not_watched, chosen_by_arguments),
    *(cells_of_classes, metaclasses, abstract_classes, kernels),
]


@pytest.mark.parametrize("case", STATE, ids=lambda case: case.__name__)
def test_state_that_changes_between_calls_is_seen(case):
    steps = case()
    jitted, args = next(steps)

    def agree():
        for _ in range(3):
            found, wanted = jitted(*args), jitted.__wrapped__(*args)
            assert np.array_equal(np.asarray(found), np.asarray(wanted)), (found, wanted, jitted.stats())

    agree()
    for _ in steps:
        agree()
    agree()
