r"""Rust's syntax of regular expressions, which DDlog's programs use, in RE2's.

Both engines take time linear in the text, and match the same way (leftmost, the first alternative first). What is
written otherwise is translated: `\d`, `\s` and `\w` know all of Unicode, the flags `x` and `u`, long names of
properties, `\u`. What RE2 cannot do is refused rather than read as something else: operations on classes, half word
boundaries, properties other than general categories and scripts; `\b` knows the letters of ASCII only.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import lru_cache

_SPACE = r"\t\n\v\f\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}"
_NO_SPACE = (
    r"\x{00}-\x{08}\x{0E}-\x{1F}\x{21}-\x{84}\x{86}-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}"
    r"\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{10FFFF}"
)
# Letters, marks, decimal digits, connectors, joiners; and the circled letters, which count as alphabetic.
_WORD = (
    r"\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200C}\x{200D}"
    r"\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189}"
)
_CIRCLED = ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))
_ASCII = {"d": "0-9", "s": r"\t\n\v\f\r ", "w": "0-9A-Za-z_"}
_ASCII_NOT = {
    "D": r"\x{00}-/:-\x{10FFFF}",
    "S": r"\x{00}-\x{08}\x{0E}-\x{1F}!-\x{10FFFF}",
    "W": r"\x{00}-/:-@\[-\^`\{-\x{10FFFF}",
}
_CATEGORIES = {
    "letter": "L", "casedletter": "L&", "uppercaseletter": "Lu", "lowercaseletter": "Ll", "titlecaseletter": "Lt",
    "modifierletter": "Lm", "otherletter": "Lo", "mark": "M", "combiningmark": "M", "nonspacingmark": "Mn",
    "spacingmark": "Mc", "enclosingmark": "Me", "number": "N", "decimalnumber": "Nd", "digit": "Nd",
    "letternumber": "Nl", "othernumber": "No", "punctuation": "P", "punct": "P", "connectorpunctuation": "Pc",
    "dashpunctuation": "Pd", "openpunctuation": "Ps", "closepunctuation": "Pe", "initialpunctuation": "Pi",
    "finalpunctuation": "Pf", "otherpunctuation": "Po", "symbol": "S", "mathsymbol": "Sm", "currencysymbol": "Sc",
    "modifiersymbol": "Sk", "othersymbol": "So", "separator": "Z", "spaceseparator": "Zs", "lineseparator": "Zl",
    "paragraphseparator": "Zp", "other": "C", "control": "Cc", "cntrl": "Cc", "format": "Cf", "privateuse": "Co",
}  # fmt: skip
_SHORT = {category.lower(): category for category in _CATEGORIES.values() if category != "L&"}
_SETS = {"any": r"\x{00}-\x{10FFFF}", "ascii": r"\x{00}-\x{7F}", "whitespace": _SPACE, "lc": r"\p{Lu}\p{Ll}\p{Lt}"}
_SETS["casedletter"] = _SETS["lc"]
_NOT_SETS = {"ascii": r"\x{80}-\x{10FFFF}", "whitespace": _NO_SPACE}

_PLAIN_ESCAPES = frozenset("afnrtv")
_GROUP = re.compile(r"\((?:\?P?<([A-Za-z_\u0080-\U0010ffff][^<>()]*)>|\?([a-zA-Z]*)(-[a-zA-Z]*)?([:)]))")
_TIMES = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}")
_PROPERTY = re.compile(r"[pP](?:\{(\^?)([^{}]+)\}|([A-Z]))")
_CODE = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|[xuU]\{([0-9A-Fa-f]{1,8})\}")


class PatternError(ValueError):
    """A pattern is wrong, or means what RE2 cannot do; the message says what, and where."""


def translated(pattern: str, *, narrow: bool = False) -> str:
    r"""Return a pattern of Rust's regex crate as RE2 writes it; raise `PatternError` if that cannot be done.

    A `narrow` one has two characters in the place of every class: a pattern of the same form, but of ASCII.

    >>> translated(r"(?x) \d+ # digits")
    '[\\p{Nd}]+'
    """
    return _Translation(pattern, narrow=narrow).whole()


class _Translation:
    """Goes through a pattern once, with the flags in force."""

    def __init__(self, pattern: str, *, narrow: bool) -> None:
        self.pattern = pattern
        self.narrow = narrow
        self.names: set[str] = set()
        self.at = 0
        self.unicode, self.verbose = True, False
        self.outer: list[tuple[bool, bool]] = []

    def whole(self) -> str:
        made = []
        while self.at < len(self.pattern):
            made.append(self._item())
        return "".join(made)

    def wrong(self, what: str) -> PatternError:
        return PatternError(f"{what} at character {self.at + 1}")

    def _item(self) -> str:
        letter = self.pattern[self.at]
        match letter:
            case "\\":
                return self._escape()
            case "[":
                return self._class()
            case "(":
                return self._group()
            case ")":
                if self.outer:
                    self.unicode, self.verbose = self.outer.pop()
            case "{":
                return self._times()
            case "#" if self.verbose:
                end = self.pattern.find("\n", self.at)
                self.at = len(self.pattern) if end < 0 else end
                return ""
            case _ if self.verbose and letter.isspace():
                self.at += 1
                return ""
        self.at += 1
        return letter

    def _times(self) -> str:
        found = _TIMES.match(self.pattern, self.at)
        if found is None:
            raise self.wrong("a number of repetitions is expected after `{` (write `\\{` for the character)")
        self.at = found.end()
        return found[0]

    def _group(self) -> str:
        if not self.pattern.startswith("(?", self.at):
            self.outer.append((self.unicode, self.verbose))
            self.at += 1
            return "("
        found = _GROUP.match(self.pattern, self.at)
        if found is None:
            raise self.wrong("there is no group of this kind (neither look-around nor references)")
        name, on, off, end = found.groups()
        if name is not None or end == ":":
            self.outer.append((self.unicode, self.verbose))
        if name in self.names:
            raise self.wrong(f"there is another group `{name}`")
        self.at = found.end()
        if name is not None:
            self.names.add(name)
            return f"(?P<{name}>"
        return self._flags(on, (off or "")[1:], end)

    def _flags(self, on: str, off: str, end: str) -> str:
        for flag in (*on, *off):
            if flag not in "imsUux":
                raise self.wrong(f"there is no flag `{flag}`")
        self.unicode = ("u" in on) or (self.unicode and "u" not in off)
        self.verbose = ("x" in on) or (self.verbose and "x" not in off)
        on, off = (flags.replace("u", "").replace("x", "") for flags in (on, off))
        if not on and not off:
            return "(?:" if end == ":" else ""
        return f"(?{on}{'-' + off if off else ''}{end}"

    # --- characters --------------------------------------------------------------------------------------------------

    def _escape(self) -> str:
        """Return what stands for an escape outside of a class."""
        letter = self._escaped()
        if letter in "bB":
            if self.pattern.startswith("{", self.at + 2):
                raise self.wrong("RE2 has no such word boundary")
            self.at += 2
            return "\\" + letter
        if letter in "Az":
            self.at += 2
            return "\\" + letter
        if letter in "dDsSwWpP":
            made = self._set()
            return "[ab]" if self.narrow else f"[{made}]"
        return self._character()

    def _escaped(self) -> str:
        if self.at + 1 == len(self.pattern):
            raise self.wrong("nothing follows `\\`")
        return self.pattern[self.at + 1]

    def _character(self) -> str:
        """Return what stands for one escaped character."""
        letter = self._escaped()
        code = _CODE.match(self.pattern, self.at + 1)
        if code is not None:
            number = int(next(filter(None, code.groups())), 16)
            if number > sys.maxunicode:
                raise self.wrong(f"there is no character {number:x}")
            self.at = code.end()
            return f"\\x{{{number:x}}}"
        if letter not in _PLAIN_ESCAPES and (letter.isalnum() or letter in "<>" or not letter.isascii()):
            raise self.wrong(f"there is no escape `\\{letter}`")
        self.at += 2
        return "\\" + letter if letter in _PLAIN_ESCAPES else f"\\x{{{ord(letter):x}}}"

    def _set(self) -> str:
        """Return what stands for an escape of several characters, inside of a class."""
        letter = self._escaped()
        if letter in "pP":
            return self._property()
        self.at += 2
        if not self.unicode:
            return {**_ASCII, **_ASCII_NOT}[letter]
        if letter == "W":
            return _no_word()
        return {"d": r"\p{Nd}", "D": r"\P{Nd}", "s": _SPACE, "S": _NO_SPACE, "w": _WORD}[letter]

    def _property(self) -> str:
        found = _PROPERTY.match(self.pattern, self.at + 1)
        if found is None:
            raise self.wrong("a property is expected, such as `\\pL` or `\\p{Greek}`")
        negated = (self._escaped() == "P") != bool(found[1])
        given = (found[2] or found[3]).strip()
        kind, _, value = given.rpartition("=")
        plain = re.sub(r"[\s_-]", "", (value or given).lower())
        if re.sub(r"[\s_-]", "", kind.lower()) not in ("", "gc", "generalcategory", "sc", "script"):
            raise self.wrong(f"RE2 knows general categories and scripts, not `{given}`")
        if plain in _SETS and (not negated or plain in _NOT_SETS):
            self.at = found.end()
            return (_NOT_SETS if negated else _SETS)[plain]
        name = _SHORT.get(plain) or _CATEGORIES.get(plain) or _script(value or given)
        self.at = found.end()
        return f"\\{'P' if negated else 'p'}{{{name}}}"

    # --- classes -----------------------------------------------------------------------------------------------------

    def _class(self) -> str:
        made = ["["]
        start = self.at
        self.at += 1
        if self.pattern.startswith("^", self.at):
            made.append("^")
            self.at += 1
        first = True
        while first or not self.pattern.startswith("]", self.at):
            if self.at >= len(self.pattern):
                self.at = start
                raise self.wrong("`[` has no `]`")
            made.append(self._member(first=first))
            first = False
        self.at += 1
        return "[ab]" if self.narrow else "".join(made) + "]"

    def _member(self, *, first: bool) -> str:
        letter = self.pattern[self.at]
        if letter == "[":
            end = self.pattern.find(":]", self.at)
            if not self.pattern.startswith("[:", self.at) or end < 0:
                raise self.wrong("RE2 has no class within a class (write `\\[` for the character)")
            made = self.pattern[self.at : end + 2]
            self.at = end + 2
            return made
        if self.pattern[self.at : self.at + 2] in ("&&", "--", "~~") and not (first and letter == "-"):
            raise self.wrong("RE2 has no operations on classes")
        if letter == "\\":
            return self._set() if self._escaped() in "dDsSwWpP" else self._character()
        self.at += 1
        return "" if self.verbose and letter.isspace() else letter


def _script(name: str) -> str:
    return "_".join(part.capitalize() for part in re.split(r"[\s_-]+", name))


@lru_cache(maxsize=1)
def _no_word() -> str:
    """Return the ranges of characters that are in no word."""
    inside = {"Mn", "Mc", "Me", "Nd", "Nl", "Pc"}
    ranges: list[list[int]] = []
    for code in range(sys.maxunicode + 1):
        category = unicodedata.category(chr(code))
        if category[0] == "L" or category in inside or code in (0x200C, 0x200D):
            continue
        if category == "So" and any(low <= code <= high for low, high in _CIRCLED):
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"\\x{{{low:x}}}-\\x{{{high:x}}}" for low, high in ranges)
