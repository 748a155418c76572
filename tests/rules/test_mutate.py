"""The mutation runner itself: that a mutant is really in place, else every survivor and every kill says nothing."""

from __future__ import annotations

import ast
import sys
import types

import pytest

from tests.rules.mutate import changed_functions, functions, mutants, put

SOURCE = """
import functools

LIMIT = 3


def over(a, b=2):
    return a > b


@functools.cache
def kept(a):
    return a + 1


class Thing:
    __slots__ = ()

    @property
    def size(self):
        return 5 - 1

    @staticmethod
    def both(a, b):
        return a and b

    def walk(self):
        found = []
        found.append(1)
        return [x + 1 for x in found]
"""


@pytest.fixture
def module():
    made = types.ModuleType("own_mutant")
    sys.modules["own_mutant"] = made
    exec(compile(ast.unparse(ast.parse(SOURCE)), "own_mutant", "exec"), made.__dict__)
    yield made
    del sys.modules["own_mutant"]


def state(module) -> list[object]:
    module.kept.cache_clear()
    thing = module.Thing()
    try:
        walked = thing.walk()
    except TypeError:
        walked = None
    return [module.over(2, 2), module.over(3), module.kept(1), thing.size, module.Thing.both(0, 7), walked]


def test_each_mutant_of_a_function_changes_what_the_loaded_function_does(module):
    plain = ast.unparse(ast.parse(SOURCE))
    before = state(module)
    inside: list[str] = []
    outside: list[str] = []
    for _, _, what, changed in mutants(SOURCE):
        found = changed_functions("own_mutant", plain, changed)
        if found is None:
            outside.append(what)
            continue
        old = {q: f.__code__ for q, f in functions(module).items()}
        held = module.over, module.Thing.walk  # as another module that imported them holds them
        put("own_mutant", found)
        assert state(module) != before, what
        assert held == (module.over, module.Thing.walk)
        inside.append(what)
        put("own_mutant", old)
        assert state(module) == before
    assert outside == ["3 -> 4", "2 -> 3"]  # the constant and the default: loaded anew
    assert sorted(inside) == [
        "1 -> 2", "1 -> 2", "1 -> 2", "1 -> 2", "5 -> 6", "Add -> Sub", "Add -> Sub", "Gt -> GtE", "Sub -> Add",
        "and <-> or", "statement dropped",
    ]  # fmt: skip
