"""Puts the code of a mutant into the functions that are there, so that nothing is imported again.

A function keeps its identity and gets another code object: whoever imported it calls the mutant. What runs when a
module is imported (its tables, its decorators, the fields of its classes) can't be put in place in this way.
"""

from __future__ import annotations

import functools
import gc
import inspect
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType

Key = tuple[str, str, int, bytes]


def changed(old: CodeType, new: CodeType) -> list[tuple[CodeType, CodeType]] | None:
    """The functions whose code differs, those inside others too; None if code that runs at import differs."""
    if old == new:
        return []
    mine, theirs = list(_inner(old)), list(_inner(new))
    found = []
    if old.co_flags & inspect.CO_NEWLOCALS and old.co_flags & inspect.CO_OPTIMIZED:
        found.append((old, new))
        if len(mine) != len(theirs):
            return found
    elif _own(old) != _own(new) or len(mine) != len(theirs):
        return None
    for one, other in zip(mine, theirs, strict=True):
        inside = changed(one, other)
        if inside is None:
            return None
        found += inside
    return found


def _inner(code: CodeType) -> Iterator[CodeType]:
    return (each for each in code.co_consts if isinstance(each, CodeType))


def _own(code: CodeType) -> tuple[object, ...]:
    constants = [repr(each) for each in code.co_consts if not isinstance(each, CodeType)]
    return (code.co_code, code.co_names, code.co_varnames, constants)


def _key(code: CodeType) -> Key:
    return (code.co_filename, code.co_name, code.co_firstlineno, code.co_code)


class Functions:
    """The functions of this process, by their code."""

    def __init__(self) -> None:
        gc.unfreeze()
        self._found: dict[Key, list[FunctionType]] = {}
        self._caches: list[functools._lru_cache_wrapper[object]] = []
        for each in gc.get_objects():
            if type(each) is FunctionType:
                self._found.setdefault(_key(each.__code__), []).append(each)
            elif type(each) is functools._lru_cache_wrapper:
                self._caches.append(each)

    def put(self, pairs: list[tuple[CodeType, CodeType]]) -> bool:
        """False, and nothing is put, if the outermost function of a change is not there or can't take it."""
        todo = []
        for place, (old, new) in enumerate(pairs):
            live = self._found.get(_key(old), [])
            if any(len(each.__code__.co_freevars) != len(new.co_freevars) for each in live) or (not live and not place):
                return False
            todo += [(each, new) for each in live]
        for function, code in todo:
            function.__code__ = code
        for cached in self._caches:
            if str(getattr(cached, "__module__", "")).startswith("mkeyspec"):
                cached.cache_clear()
        return True


def compiled(path: str, text: str) -> CodeType:
    return compile(text, path, "exec", dont_inherit=True)


class Finder:
    """For `sys.meta_path`: one module is made of another code."""

    def __init__(self, name: str, path: str, code: CodeType) -> None:
        self.name, self.path, self.code = name, path, code

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        if name != self.name:
            return None
        from importlib.machinery import SourceFileLoader
        from importlib.util import spec_from_file_location

        code = self.code

        class Loader(SourceFileLoader):
            def get_code(self, fullname: str) -> CodeType:
                return code

        places = [self.path.removesuffix("__init__.py")] if self.path.endswith("__init__.py") else None
        return spec_from_file_location(
            name, self.path, loader=Loader(name, self.path), submodule_search_locations=places
        )


def module_name(path: str) -> str:
    """`mkeyspec/run/__init__.py` is mkeyspec.run."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def loaded(path: str) -> bool:
    return module_name(path) in sys.modules
