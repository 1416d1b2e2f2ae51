"""Soundex, and a clamp."""

from tidelog.base.extern import Externs

EXTERNS = externs = Externs()

CODES = {
    letter: code for code, letters in enumerate(("bfpv", "cgjkqsxz", "dt", "l", "mn", "r"), 1) for letter in letters
}


@externs.register("soundex", "function(string): string")
def soundex(name: str) -> str:
    """Return the first letter and the codes of the consonants that follow it."""
    codes = [CODES.get(letter, 0) for letter in name.lower()]
    kept = [code for code, before in zip(codes[1:], codes, strict=False) if code and code != before]
    return (name[0].upper() + "".join(map(str, kept)) + "000")[:4]


@externs.register("clamp", "function(signed<32>, signed<32>, signed<32>): signed<32>")
def clamp(x: int, low: int, high: int) -> int:
    """Return the number in the range that is nearest to x."""
    return max(low, min(high, x))
