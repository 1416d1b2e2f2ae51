"""Module `url`: URLs, read and written as the WHATWG's URL standard says.

The standard's state machine is written here as what it does: a text falls into scheme, authority, path, query and
fragment, each part is percent-encoded by a set of its own, and a relative URL takes what it lacks from its base. Its
mistakes are worded as in Rust's crate `url`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tidelog.base.values import NONE, Variant, err, ok, some
from tidelog.logic.std.texts.hosts import HostError, read_host

DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}
SPECIAL = frozenset({*DEFAULT_PORTS, "file"})
KNOWN_PORTS = {**DEFAULT_PORTS, "gopher": 70}
EMPTY = "http://127.0.0.1/"
"""What the empty text stands for, which `unwrap_or_default` gives."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_DRIVE = re.compile(r"[A-Za-z][:|]")
_FRAGMENT, _QUERY = ' "<>`', ' "#<>'
_PATH = _QUERY + "?`{}"
_USER = _PATH + "/:;=@[\\]^|"


@dataclass(frozen=True)
class Url:
    """A URL by its parts; one whose path is opaque cannot be a base, one without an authority has no host."""

    scheme: str
    host: str | None = None
    path: str = ""
    query: str | None = None
    fragment: str | None = None
    username: str = ""
    password: str = ""
    port: int | None = None
    opaque: bool = False
    is_domain: bool = False

    def __str__(self) -> str:
        user = f"{self.username}{':' * bool(self.password)}{self.password}"
        place = f"//{user}{'@' * bool(user)}{self.host}" if self.host is not None else ""
        place += f":{self.port}" if self.port is not None else ""
        dot = "/." if self.host is None and not self.opaque and self.path.startswith("//") else ""
        query = f"?{self.query}" if self.query is not None else ""
        fragment = f"#{self.fragment}" if self.fragment is not None else ""
        return f"{self.scheme}:{place}{dot}{self.path}{query}{fragment}"

    @property
    def special(self) -> bool:
        """Whether its scheme is one of those that the standard treats in its own way."""
        return self.scheme in SPECIAL


def read(text: str, base: Url | None = None) -> Url:
    """Read a URL."""
    text = re.sub(r"[\t\n\r]", "", text.strip("".join(map(chr, range(33)))))
    text, hash_sign, behind = text.partition("#")
    fragment = _encode(behind, _FRAGMENT) if hash_sign else None
    found = _SCHEME.match(text)
    if found is None:
        return replace(_relative(text, base, fragment_only=not text and fragment is not None), fragment=fragment)
    scheme, rest = found[1].lower(), text[found.end() :]
    relative = base is not None and scheme == base.scheme and base.special
    if relative and not re.match(r"[/\\]{2}", rest):
        return replace(_relative(rest, base, fragment_only=False), fragment=fragment)
    return replace(_absolute(Url(scheme), rest), fragment=fragment)


def _absolute(url: Url, rest: str) -> Url:
    slashes = "/\\" if url.special else "/"
    if url.scheme == "file":
        two = len(rest) >= 2 and rest[0] in slashes and rest[1] in slashes
        return _with_file_host(url, rest[2:]) if two else _with_path(replace(url, host=""), rest, "")
    if url.special:
        return _with_authority(url, rest.lstrip(slashes))
    if rest.startswith("//"):
        return _with_authority(url, rest[2:])
    if rest.startswith("/"):
        return _with_path(url, rest, "")
    path, mark, query = rest.partition("?")
    return replace(url, path=_encode(path, ""), opaque=True, query=_encode(query, _QUERY) if mark else None)


def _relative(text: str, base: Url | None, *, fragment_only: bool) -> Url:
    """Read what has no scheme, without its fragment, relative to a base."""
    if base is None:
        raise HostError("relative URL without a base")
    if base.opaque and not fragment_only:
        raise HostError("relative URL with a cannot-be-a-base base")
    if not text:
        return base
    slashes = "/\\" if base.special else "/"
    bare = replace(base, query=None)
    if text[0] in slashes and text[1:2] and text[1] in slashes:
        return _absolute(Url(base.scheme), text)
    if text[0] == "?":
        return replace(base, query=_encode(text[1:], _QUERY + "'" * base.special))
    return _with_path(bare, text, "" if text[0] in slashes else base.path)


def _with_authority(url: Url, rest: str) -> Url:
    authority, rest = _until(rest, "/\\?" if url.special else "/?")
    user, at, place = authority.rpartition("@")
    name, _, password = user.partition(":")
    found = re.fullmatch(r"(\[[^\]]*\]|[^:\[]*)(?::(.*))?", place, re.DOTALL)
    if found is None:
        raise HostError("invalid IPv6 address" if "[" in place else "invalid port number")
    if not found[1] and (url.special or at or found[2]):
        raise HostError("empty host")
    host, is_domain = read_host(found[1], special=url.special)
    url = replace(url, username=_encode(name, _USER), password=_encode(password, _USER))
    url = replace(url, host=host, is_domain=is_domain, port=_port(found[2] or "", url.scheme))
    return _with_path(url, rest, "")


def _port(digits: str, scheme: str) -> int | None:
    if not digits:
        return None
    number = int(digits[-5:]) if re.fullmatch("0*[0-9]{1,5}", digits) else 1 << 16
    if number > 0xFFFF:
        raise HostError("invalid port number")
    return number if number != DEFAULT_PORTS.get(scheme) else None


def _with_file_host(url: Url, rest: str) -> Url:
    name, behind = _until(rest, "/\\?")
    if _DRIVE.fullmatch(name):
        return _with_path(replace(url, host=""), rest, "")
    host, is_domain = read_host(name, special=True) if name else ("", False)
    here = host == "localhost"
    return _with_path(replace(url, host="" if here else host, is_domain=is_domain and not here), behind, "")


def _with_path(url: Url, rest: str, before: str) -> Url:
    """Add path and query; a relative path goes on behind the last slash of the path before."""
    path, mark, query = rest.partition("?")
    if mark:
        url = replace(url, query=_encode(query, _QUERY + "'" * url.special))
    parts = before.split("/")[1:-1]
    segments = (path.replace("\\", "/") if url.special else path).split("/")
    if not before and segments[0] == "":
        segments = segments[1:]
    if not segments and not url.special:
        return replace(url, path="")
    for i, segment in enumerate(segments):
        last = i == len(segments) - 1
        plain = segment.lower().replace("%2e", ".")
        if plain == "..":
            if parts and not (url.scheme == "file" and len(parts) == 1 and _DRIVE.fullmatch(parts[0])):
                parts.pop()
        elif plain != ".":
            if url.scheme == "file" and not parts and _DRIVE.fullmatch(segment):
                segment = f"{segment[0]}:"  # noqa: PLW2901  (a drive is written with a colon)
            parts.append(_encode(segment, _PATH))
        if last and plain in {".", ".."}:
            parts.append("")
    return replace(url, path="/" + "/".join(parts) if parts or url.special else "")


def _until(text: str, marks: str) -> tuple[str, str]:
    """Return what is in front of the first of some characters, and the rest."""
    place = next((i for i, c in enumerate(text) if c in marks), len(text))
    return text[:place], text[place:]


def _encode(text: str, marks: str) -> str:
    """Percent-encode what is no printed ASCII, and some characters."""
    return "".join(
        c if " " <= c <= "~" and c not in marks else "".join(f"%{byte:02X}" for byte in c.encode()) for c in text
    )


# --- the functions of the language -----------------------------------------------------------------------------------


def parse(text: str) -> Variant:
    """Read an absolute URL; return its normal text, or what is wrong."""
    try:
        return ok(str(read(text)))
    except HostError as error:
        return err(str(error))


def join(url: str, other: str) -> Variant:
    """Read a URL that may be relative to another one."""
    base = _read(url)
    try:
        return ok(str(read(other, base)))
    except HostError as error:
        return err(str(error))


def _read(text: str) -> Url:
    try:
        return read(text or EMPTY)
    except HostError as error:
        raise ValueError(f"`{text}` is not a URL: {error}") from None


def _part(part: Callable[[Url], Any]) -> Callable[[str], Any]:
    return lambda text: part(_read(text))


def _perhaps(part: Callable[[Url], Any]) -> Callable[[str], Any]:
    def found(text: str) -> Variant:
        value = part(_read(text))
        return NONE if value is None else some(value)

    return found


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "url_parse": parse,
    "join": join,
    "url_to_string": _part(str),
    "scheme": _part(lambda url: url.scheme),
    "has_authority": _part(lambda url: url.host is not None),
    "cannot_be_a_base": _part(lambda url: url.opaque),
    "username": _part(lambda url: url.username),
    "password": _perhaps(lambda url: url.password or None),
    "has_host": _part(lambda url: bool(url.host)),
    "host_str": _perhaps(lambda url: url.host or None),
    "domain": _perhaps(lambda url: url.host if url.is_domain else None),
    "port": _perhaps(lambda url: url.port),
    "port_or_known_default": _perhaps(lambda url: KNOWN_PORTS.get(url.scheme) if url.port is None else url.port),
    "path": _part(lambda url: url.path),
    "query": _perhaps(lambda url: url.query),
    "fragment": _perhaps(lambda url: url.fragment),
}
