"""From text to tokens, in one pass of one regular expression.

Tokens are parallel lists rather than objects, since a generated program has hundreds of thousands of them: `kinds`
(an operator or keyword is its own kind, the others are named below), `words` (the characters), `starts` and `ends`.
What a string token means is in `strings`, by token: its parts, which are text or, for `${...}`, tokens of their own.
Comments are kept apart. `>>` and `>=` are two tokens each, since types close with `>`; the parser joins them.

Mistakes are reported and skipped, so that the parser always gets a list of tokens that ends in `END`.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from typing import Final

from tidelog.base.diagnostic import Report
from tidelog.base.span import Source, Span
from tidelog.lang.escape import Unescaped, unescape
from tidelog.lang.syntax import Comment

LOWER: Final = "lower-case name"
UPPER: Final = "upper-case name"
INT: Final = "integer"
SIZED: Final = "sized number"
FLOAT: Final = "floating-point number"
STRING: Final = "string"
TICK: Final = "type variable"
IRI: Final = "IRI"
END: Final = "end"

KEYWORDS: Final = frozenset((
    "and", "as", "break", "continue", "else", "extern", "false", "for", "function", "if", "import", "in", "input",
    "match", "mut", "not", "or", "output", "relation", "return", "skip", "true", "typedef", "var", "Aggregate",
    "FlatMap", "Inspect", "_",
))  # fmt: skip
MAX_STRINGS: Final = 30
"""How deeply strings may stand in `${}` of strings."""

TOKEN: Final = re.compile(
    r"""[ \t\r\n\f]*(?:
    (i(?="|\$?\[\|))                                                        # 1 the prefix of an interned string
  | ([a-z_][A-Za-z0-9_]*)                                                   # 2 word that begins small
  | ([A-Z][A-Za-z0-9_]*)                                                    # 3 word that begins with a capital
  | (//[^\n]*)                                                              # 4 comment up to the end of the line
  | (/\*)                                                                   # 5 block comment
  | "([^"\\$\n]*)"                                                          # 6 string without escape or `$`
  | ("|\$?\[\|)                                                             # 7 any other string
  | (<[A-Za-z][A-Za-z0-9+.\-]*:(?!:)[^\x00-\x20<>"{}|^`\\]*>)                # 8 IRI
  | (:-|::|->|=>|==|!=|<=|<<|\+\+|[()\[\]{},;.:=<>+\-*/%&|^~?@\#])          # 9 operator
  | ((?<!\.)[0-9]+(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)(?![A-Za-z0-9_']))    # 10 floating point
  | ([0-9][0-9_]*(?![A-Za-z0-9_]|'(?![\s(\[/])))                               # 11 decimal, also that of R-1'(x)
  | ((?:[0-9][0-9_]*)?'(?:s?(?:d[0-9][0-9_]*|h[0-9a-fA-F][0-9a-fA-F_]*|o[0-7][0-7_]*|b[01][01_]*)
      |f[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![A-Za-z0-9_']))          # 12 width'radix
  | ('[A-Z][A-Za-z0-9_]*)                                                   # 13 type variable
  | ([0-9][A-Za-z0-9_]*(?:'[A-Za-z0-9_.]*)?|'[a-z0-9_][A-Za-z0-9_]*'?)      # 14 malformed number
  | (')                                                                     # 15 tick
  | ([^ \t\r\n\f])                                                          # 16 anything else
  | \Z                                                                      # no group: blanks at the end
    )""",
    re.VERBOSE,
)
_INTERN, _WORD, _NAME, _LINE, _BLOCK, _PLAIN, _OPENER, _IRI, _OPERATOR = range(1, 10)
_FLOAT, _DECIMAL, _SIZED, _TICK, _MALFORMED, _STRAY_TICK, _OTHER = range(10, 17)
_WORDS = (_WORD, _NAME)
_KIND = {_IRI: IRI, _FLOAT: FLOAT, _DECIMAL: INT, _SIZED: SIZED, _TICK: TICK, _STRAY_TICK: "'"}

IRI_TEXT: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:(?!:)[^\x00-\x20<>\"{}|^`\\]*").fullmatch
"""Tells whether a text may stand between `<` and `>`."""
_MARK: Final = "\ufeff"
"""The byte order mark, which some editors put before a text; elsewhere it is a strange character."""
_PARAMETER: Final = re.compile(r"\$[a-z_][A-Za-z0-9_]*")
"""The name of a value that is given with a goal."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""Half a character of UTF-16, which no text in UTF-8 can have; a text from Python may."""
_COMMENT_MARK: Final = re.compile(r"/\*|\*/")
# Each has one way to match, and takes what it took for good: a string that is not closed costs no more than others.
_QUOTED: Final = re.compile(r'"((?:[^"\\\n]|\\\s++\\?+|\\\S)*+)"')
_OPEN_INTERPOLATION: Final = re.compile(r'\$\{[^}"]*(?:"|\Z)')
_CHUNK: Final = re.compile(r'(?:[^"\\$\n]|\\\s++\\?+|\\\S|\$(?!\{))++')


@dataclass(slots=True)
class Tokens:
    """The tokens of a text; the lists are parallel and end in a token of kind `END`."""

    source: Source
    kinds: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    strings: dict[int, tuple[str | Tokens, ...]] = field(default_factory=dict)
    unclosed: set[int] = field(default_factory=set)
    """Strings that swallowed what stands behind them; what the parser misses there is no further mistake."""
    comments: list[Comment] = field(default_factory=list)

    def add(self, kind: str, word: str, start: int, end: int) -> None:
        """Append a token."""
        self.kinds.append(kind)
        self.words.append(word)
        self.starts.append(start)
        self.ends.append(end)


def lex(source: Source, report: Report, parameters: dict[str, None] | None = None) -> Tokens:
    """Split a text into tokens; in a goal, names may be `parameters`, as in `$from`, which are noted there.

    >>> tokens = lex(Source("a.dl", 'R(x, "a${n}") :- S(x). // why'), Report())
    >>> tokens.words[:6], len(tokens.strings[4]), tokens.comments
    (['R', '(', 'x', ',', '"a${n}"', ')'], 3, [Comment(text='// why')])
    """
    lexer = _Lexer(source, report, source.text, parameters)
    tokens = Tokens(source)
    if not source.text.isascii():
        for found in _SURROGATE.finditer(source.text):
            lexer.stray(found[0], *found.span())
    lexer.scan(int(source.text.startswith(_MARK)), tokens)
    return tokens


class _Unclosed(Exception):  # noqa: N818 - control flow, never seen by users
    """A string or `${` reaches the end of the text; whoever tried it reports or tries otherwise."""


def _forward(mistakes: Report, report: Report) -> None:
    for mistake in mistakes.diagnostics:
        report.add(mistake.code, mistake.message, mistake.span, note=mistake.note, hint=mistake.hint)


class _Lexer:
    """Lexes `text`, which is the source's, or (with `where`) a part of it with escapes resolved."""

    def __init__(
        self,
        source: Source,
        report: Report,
        text: str,
        parameters: dict[str, None] | None = None,
        where: list[int] | None = None,
        depth: int = 0,
    ) -> None:
        self.source = source
        self.report = report
        self.text = text
        self.where = where
        self.depth = depth
        self.parameters = parameters

    def scan(self, position: int, tokens: Tokens, *, inside: bool = False, stop: int = sys.maxsize) -> int:
        """Append tokens up to the end of the text, or (`inside` of `${`) up to the brace that closes it."""
        kinds, words, starts, ends = tokens.kinds, tokens.words, tokens.starts, tokens.ends
        braces = 0
        again = True
        while again:
            again = False
            for found in TOKEN.finditer(self.text, position, stop):
                group = found.lastindex
                if group is None:
                    break
                if group in _WORDS:
                    word = found[group]
                    kinds.append(word if word in KEYWORDS else LOWER if group == _WORD else UPPER)
                elif group == _OPERATOR:
                    word = found[_OPERATOR]
                    if inside and word in "{}":
                        braces += 1 if word == "{" else -1
                        if braces < 0:
                            return self._finish(tokens, found.start(_OPERATOR))
                    kinds.append(word)
                elif group in _KIND:
                    word = found[group]
                    kinds.append(_KIND[group])
                elif group == _PLAIN:
                    tokens.strings[len(kinds)] = (found[_PLAIN],)
                    kinds.append(STRING)
                    words.append(f'"{found[_PLAIN]}"')
                    starts.append(found.start(group) - 1)
                    ends.append(found.end())
                    continue
                else:
                    position = self._special(found, group, tokens)
                    again = True
                    break
                words.append(word)
                starts.append(found.start(group))
                ends.append(found.end())
        if inside:
            raise _Unclosed
        return self._finish(tokens, len(self.text))

    def _finish(self, tokens: Tokens, position: int) -> int:
        tokens.add(END, "", position, position)
        if self.where:
            where = self.where
            tokens.starts[:] = [where[start] for start in tokens.starts]
            tokens.ends[:] = [where[end] for end in tokens.ends]
        return position

    def _special(self, found: re.Match[str], group: int, tokens: Tokens) -> int:
        """Treat what the expression does not match whole, and mistakes; return where to go on."""
        start, end = found.start(group), found.end()
        if group in {_INTERN, _OPENER}:
            return self._string(start, start + (group == _INTERN), tokens)
        if group == _LINE:
            tokens.comments.append(Comment(found[group].rstrip(), span=self._span(start, end)))
        elif group == _BLOCK:
            return self._block_comment(start, tokens)
        elif group == _MALFORMED:
            self._malformed(found[group], start, end)
            tokens.add(INT, "0", start, end)
        elif self.parameters is not None and (name := _PARAMETER.match(self.text, start)):
            self.parameters[name[0]] = None
            tokens.add(LOWER, name[0], start, name.end())
            return name.end()
        else:
            self.stray(found[group], start, end)
        return end

    def _span(self, start: int, end: int) -> Span:
        where = self.where
        return Span(self.source, where[start], where[end]) if where else Span(self.source, start, end)

    def _block_comment(self, start: int, tokens: Tokens) -> int:
        depth, position = 1, start + 2
        while depth:
            mark = _COMMENT_MARK.search(self.text, position)
            if mark is None:
                self.report.add(
                    "E0102",
                    "this comment is never closed",
                    self._span(start, start + 2),
                    note="block comments nest: each `/*` needs its own `*/`",
                )
                return len(self.text)
            depth += 1 if mark[0] == "/*" else -1
            position = mark.end()
        tokens.comments.append(Comment(self.text[start:position], span=self._span(start, position)))
        return position

    # --- strings -----------------------------------------------------------------------------------------------------

    def _string(self, start: int, opener: int, tokens: Tokens) -> int:
        """Lex the string that begins at `start`, with its delimiter at `opener`."""
        text, report = self.text, self.report
        if self.depth > MAX_STRINGS:
            report.add("E0107", "strings are nested too deeply", self._span(start, opener + 1))
            return len(text)
        # An unclosed string is reported as such, without what was made of the text behind it.
        self.report = Report()
        try:
            if text.startswith("[|", opener):
                end = self._find("|]", opener + 2) + 2
                parts: tuple[str | Tokens, ...] = (text[opener + 2 : end - 2],)
            elif text.startswith("$[|", opener):
                parts, end = self._raw(opener)
            else:
                parts, end = self._quoted(opener)
        except _Unclosed:
            self.report = report
            return self._unclosed(start, opener, tokens)
        _forward(self.report, report)
        self.report = report
        tokens.strings[len(tokens.kinds)] = parts
        tokens.add(STRING, text[start:end], start, end)
        return end

    def _unclosed(self, start: int, opener: int, tokens: Tokens) -> int:
        quoted = self.text[opener] == '"'
        line_end = self.text.find("\n", opener)
        end = line_end if quoted and line_end >= 0 else len(self.text)
        interpolated = _OPEN_INTERPOLATION.search(self.text, opener, end) if self.text[opener] != "[" else None
        if interpolated:
            self.report.add(
                "E0106",
                "this `${` is never closed",
                self._span(interpolated.start(), interpolated.start() + 2),
                note="`${e}` in a string stands for the value of the expression e",
                hint="write `\\$` for a plain dollar sign",
            )
        else:
            closer, note = ('"', "a quoted string ends on its own line") if quoted else ("|]", "")
            self.report.add(
                "E0103",
                "this string is never closed",
                self._span(start, opener + 1 if quoted else self.text.index("|", opener) + 1),
                note=note,
                hint=f"close it with `{closer}`" + ("; `[|...|]` may span lines" if quoted else ""),
            )
        tokens.strings[len(tokens.kinds)] = ()
        tokens.unclosed.add(len(tokens.kinds))
        tokens.add(STRING, self.text[start:end], start, end)
        return end

    def _quoted(self, opener: int) -> tuple[tuple[str | Tokens, ...], int]:
        """Lex `"..."`. Quotes inside `${}` may be escaped, as DDlog demands, or plain."""
        found = _QUOTED.match(self.text, opener)
        if found and "${" in found[1]:
            trial = Report()
            try:
                parts = self._escaped_parts(found, trial)
            except _Unclosed:
                return self._plain_parts(opener)
            _forward(trial, self.report)
            return parts, found.end()
        if found:
            return (self._unescape(found.start(1), found.end(1), self.report).text,), found.end()
        return self._plain_parts(opener)

    def _escaped_parts(self, found: re.Match[str], report: Report) -> tuple[str | Tokens, ...]:
        """Resolve escapes first, then lex what `${}` embeds."""
        inner = self._unescape(found.start(1), found.end(1), report)
        lexer = _Lexer(self.source, report, inner.text, self.parameters, inner.where, self.depth + 1)
        parts: list[str | Tokens] = []
        position = 0
        while (dollar := inner.find_interpolation(position)) >= 0:
            embedded = Tokens(self.source)
            parts += [inner.text[position:dollar], embedded]
            position = lexer.scan(dollar + 2, embedded, inside=True) + 1
        return (*parts, inner.text[position:])

    def _plain_parts(self, opener: int) -> tuple[tuple[str | Tokens, ...], int]:
        """Lex what `${}` embeds where it stands, so that it may hold strings of its own."""
        text, position = self.text, opener + 1
        line_end = text.find("\n", opener)
        stop = line_end if line_end >= 0 else len(text)
        parts: list[str | Tokens] = []
        self.depth += 1
        try:
            while not text.startswith('"', position):
                if chunk := _CHUNK.match(text, position):
                    parts.append(self._unescape(position, chunk.end(), self.report).text)
                    position = chunk.end()
                elif text.startswith("${", position):
                    embedded = Tokens(self.source)
                    position = self.scan(position + 2, embedded, inside=True, stop=stop) + 1
                    parts.append(embedded)
                else:
                    raise _Unclosed
        finally:
            self.depth -= 1
        return tuple(parts), position + 1

    def _raw(self, opener: int) -> tuple[tuple[str | Tokens, ...], int]:
        """Lex `$[|...|]`, which has no escapes."""
        text, position = self.text, opener + 3
        parts: list[str | Tokens] = []
        self.depth += 1
        try:
            while True:
                close, dollar = self._find("|]", position), text.find("${", position)
                if dollar < 0 or close < dollar:
                    return (*parts, text[position:close]), close + 2
                embedded = Tokens(self.source)
                parts += [text[position:dollar], embedded]
                position = self.scan(dollar + 2, embedded, inside=True) + 1
        finally:
            self.depth -= 1

    def _find(self, delimiter: str, position: int) -> int:
        found = self.text.find(delimiter, position)
        if found < 0:
            raise _Unclosed
        return found

    def _unescape(self, start: int, end: int, report: Report) -> Unescaped:
        inner = unescape(self.text, start, end)
        for at, length in inner.mistakes:
            report.add(
                "E0104",
                f"`{self.text[at : at + length]}` is not an escape sequence",
                self._span(at, at + length),
                note=r"the escape sequences are \n \r \t \a \b \f \v \0 \\ \" \' \$ \xHH \u{H...}",
                hint=r"write `\\` for a backslash, or use a raw string `[|...|]`",
            )
        if self.where:
            inner.where[:] = [self.where[place] for place in inner.where]
        return inner

    # --- mistakes ----------------------------------------------------------------------------------------------------

    def _malformed(self, word: str, start: int, end: int) -> None:
        hint = ""
        if re.fullmatch(r"'.*'", word):
            hint = f'strings are written in double quotes: `"{word[1:-1]}"`'
        elif re.fullmatch(r"0[xX][0-9a-fA-F]+", word):
            hint = f"hexadecimal numbers are written `'h{word[2:]}`, or `32'h{word[2:]}` with a width"
        elif re.fullmatch(r"0[bB][01]+", word):
            hint = f"binary numbers are written `'b{word[2:]}`, or `32'b{word[2:]}` with a width"
        elif re.fullmatch(r"'[a-z][A-Za-z0-9_]*", word):
            hint = f"a type variable begins with a capital letter: `'{word[1:].capitalize()}`"
        self.report.add(
            "E0105",
            f"`{word}` is not a number",
            self._span(start, end),
            note="numbers look like 42, 1.5, 16'd42, 8'hff, 32'sd7, 8'b1010, 32'f1.5",
            hint=hint,
        )

    def stray(self, word: str, start: int, end: int) -> None:
        hints = {"!": "negation is written `not`", "`": "strings are written in double quotes"}
        if self.parameters is not None:
            hints["$"] = "a parameter is `$` and a name that begins with a letter: `$from`"
        named = f"`{word}`" if word.isprintable() else f"U+{ord(word):04X}"
        self.report.add(
            "E0101",
            f"unexpected character {named}",
            self._span(start, end),
            note="names are made of the letters A-Z and a-z, digits and `_`" if word.isalpha() else "",
            hint=hints.get(word, ""),
        )
