"""Kernels that are compiled once for an installation: `kernel` in place of numba's `njit(cache=True)`.

Numba's own cache raises an error where no folder can be written or a file is damaged, executes whatever it finds, and
keeps code of a kernel although a kernel that it calls has changed. Here code is kept in a file for each kernel and
signature, in a folder that only the user can write to (`base.process.cache_folder`). The file's name has a digest of
all sources in the kernel's folder and of numba's version, so that code of other sources is never loaded, and one of the
signature, so that processes that compile at the same time do not disturb each other. A file has a checksum, and belongs
to the user. A file that is damaged or not the user's is as good as none: the kernel is compiled, and the file replaced.
What cannot be kept is compiled again in the next run. Each of these is reported once in a process, by a `CacheWarning`.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import threading
import uuid
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numba
import numpy as np
from numba import njit, types
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from tidelog.base.errors import CacheWarning
from tidelog.base.process.cache_folder import ENDING, VARIABLE, cache_folder, untrusted

_pickled: Callable[[Any], bytes] = dumps  # numba's own, which knows its types
WORD = 4
"""Bytes of the checksum, and of the length of the key."""

Function = Callable[..., Any]


def kernel(function: Function) -> Any:
    """Return a function compiled without the interpreter's lock for the types that its annotations say, and kept.

    That happens when it is first called. Code for other types is compiled, too, but nobody prepares it.
    """
    return _compiled(function)


def part(function: Function) -> Any:
    """Return a function that only kernels call: it has no way in for Python, which takes as long to compile as itself.

    It counts no references, which also takes longer than the rest: so it makes no arrays and returns none.
    """
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)


def inlined(function: Function) -> Any:
    """Return a part of a kernel that becomes part of the code of each call."""
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False, forceinline=True)


def _compiled(function: Function, **options: bool) -> Any:
    compiler: Any = njit  # some of its options have no types
    dispatcher = compiler(nogil=True, error_model="numpy", **options)(function)
    source = Path(function.__code__.co_filename)
    folder = _folder(source.parent) if source.is_file() else None  # in an archive its sources could not be compared
    if folder is not None:
        dispatcher._cache = KernelCache(function, folder)  # noqa: SLF001  (numba has no other place for it)
    usual = dispatcher.get_call_template

    def call_template(arguments: Any, names: Any) -> Any:
        """Convert what another kernel passes, rather than compile this one again for a literal."""
        if signatures := signatures_of(dispatcher):
            for signature in signatures:
                dispatcher.compile(signature)
            dispatcher.disable_compile()
        try:
            return usual(arguments, names)
        finally:
            dispatcher.disable_compile(False)

    dispatcher.get_call_template = call_template
    return dispatcher


def signatures_of(compiled: Any) -> list[tuple[Any, ...]]:
    """Return the types of arguments that the annotations of a kernel say; none if it has none.

    Alternatives of several arguments go together: the first of each, the second of each.
    """
    hints = get_type_hints(compiled.py_func)
    names = compiled.py_func.__code__.co_varnames[: compiled.py_func.__code__.co_argcount]
    if not all(name in hints for name in names):
        return []
    alternatives = [get_args(hints[name]) if isinstance(hints[name], UnionType) else (hints[name],) for name in names]
    count = max(map(len, alternatives), default=1)
    return [tuple(_numba_type(some[min(n, len(some) - 1)]) for some in alternatives) for n in range(count)]


def _numba_type(hint: Any) -> Any:
    if isinstance(hint, TypeVar):  # of which kernels take the first
        hint = hint.__constraints__[0]
    if hasattr(hint, "_fields"):
        fields = [_numba_type(one) for one in get_type_hints(hint).values()]
        alike: Any = types.NamedUniTuple
        named: Any = types.NamedTuple
        return alike(fields[0], len(fields), hint) if len(set(fields)) == 1 else named(fields, hint)
    if get_origin(hint) is np.ndarray:
        shape, element = get_args(hint)
        return types.Array(numba.from_dtype(np.dtype(get_args(element)[0])), len(get_args(shape)), "C")
    typeof: Any = numba.typeof
    return typeof(hint(0))


def kept_signatures(compiled: Any) -> list[Any]:
    """Return the signatures for which code of a kernel is kept that can be loaded here."""
    cache = compiled._cache  # noqa: SLF001
    return list(cache.signatures(compiled.targetctx)) if isinstance(cache, KernelCache) else []


@lru_cache
def _folder(source: Path) -> Path | None:
    """Return where the kernels of a folder are kept; tell if that is not where it should be."""
    found = cache_folder(source)
    why = "; ".join(found.refused)
    if found.path is None:
        _tell("folder", f"kernels are compiled in every run: {why}; set {VARIABLE} to a folder of your own")
    elif found.asked:
        _tell("folder", f"compiled kernels are kept in {found.path}: {why}")
    return found.path


@lru_cache
def _stamp(source: Path) -> str:
    """Return what tells the sources of a folder, and the compiler, from others."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(source.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


_told: set[str] = set()
_telling = threading.Lock()


def _tell(kind: str, text: str) -> None:
    """Warn once of each kind of trouble."""
    with _telling:
        if kind in _told:
            return
        _told.add(kind)
    warnings.warn(text, CacheWarning, stacklevel=2)


class KernelCache:
    """What numba asks for the code of a kernel before it compiles, and gives it to afterwards; the names are numba's.

    The files of a kernel are called `NAME.STAMP.SIGNATURE.nbc`.
    """

    def __init__(self, function: Function, folder: Path) -> None:
        code = function.__code__
        source = Path(code.co_filename)
        self._folder = folder
        self._name = f"{source.stem}.{function.__qualname__}-{code.co_firstlineno}.{sys.implementation.cache_tag}"
        self._stamp = _stamp(source.parent)

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(self._folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return compiled code for a signature; None if there is none that can be used."""
        target_context.refresh()
        key = _key(sig, target_context.codegen())
        path = self._path(key)
        try:
            found = _read(path)
            if found is None or found[0] != key:
                return None
            rebuild: Any = CompileResult._rebuild  # noqa: SLF001
            return rebuild(target_context, *found[1]())
        except Exception as error:  # noqa: BLE001  (damage can show in any way, and the kernel can be compiled)
            why = (isinstance(error, OSError) and error.strerror) or error
            _tell("damaged", f"{path} cannot be used ({why}): its kernel is compiled again")
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code for a signature, if that is possible."""
        if data.library.has_dynamic_globals or any(not lifted.can_cache for lifted in data.lifted):
            return  # it has addresses of this process in it
        key = _key(sig, data.codegen)
        path = self._path(key)
        try:
            _write(path, key, _pickled(data._reduce()))  # noqa: SLF001
            for other in self._folder.glob(f"{self._name}.*{ENDING}"):
                if not other.name.startswith(f"{self._name}.{self._stamp}."):
                    other.unlink(missing_ok=True)  # of other sources
        except OSError as error:
            why = error.strerror or error
            _tell("full", f"compiled kernels cannot be kept in {self._folder}: {why}; the next run compiles them again")

    def signatures(self, target_context: Any) -> Iterator[Any]:
        """Yield the signatures for which code is kept that fits this processor."""
        for path in self._folder.glob(f"{self._name}.{self._stamp}.*{ENDING}"):
            with suppress(Exception):  # told when the kernel is called
                found = _read(path)
                if found is not None and found[0] == _key(found[0][0], target_context.codegen()):
                    yield found[0][0]

    def flush(self) -> None:
        """Forget nothing: what is kept belongs to the sources, which have not changed."""

    def _path(self, key: Any) -> Path:
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        return self._folder / f"{self._name}.{self._stamp}.{digest}{ENDING}"


def _key(signature: Any, codegen: Any) -> Any:
    """Return what code is for: a signature, on a processor."""
    return signature, codegen.magic_tuple()


def _read(path: Path) -> tuple[Any, Callable[[], Any]] | None:
    """Return the key of a file and a function that gives its data; None if there is none to be trusted."""
    try:
        with path.open("rb") as file:
            reason = untrusted(os.fstat(file.fileno()))
            content = memoryview(file.read())
    except FileNotFoundError:
        return None
    if reason is not None:
        _tell("foreign", f"{path} {reason}: it is not used, and the kernel is compiled again")
        return None
    checksum, body = content[:WORD], content[WORD:]
    if zlib.crc32(body).to_bytes(WORD) != checksum:
        raise ValueError("its checksum is wrong")
    begin = WORD + int.from_bytes(body[:WORD])
    return pickle.loads(body[WORD:begin]), lambda: pickle.loads(body[begin:])  # noqa: S301  (written by the user)


def _write(path: Path, key: Any, data: bytes) -> None:
    """Make a file, for its owner alone; it is there whole or not at all."""
    begin = pickle.dumps(key, -1)
    body = len(begin).to_bytes(WORD) + begin + data
    draft = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:  # noqa: PTH123
            file.write(zlib.crc32(body).to_bytes(WORD) + body)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
