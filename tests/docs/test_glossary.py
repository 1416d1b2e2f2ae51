"""The glossary explains words that the code uses."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_word_occurs_in_the_code() -> None:
    words = re.findall(r"^\| (\w+) \| ", (ROOT / "docs/dev/glossary.md").read_text(), re.MULTILINE)
    text = "\n".join(path.read_text() for path in (ROOT / "src/tidelog").rglob("*.py")).lower()
    used = set(re.findall(r"[a-z]+", text))
    terms = [word for word in words if word != "word"]  # the heads of the tables
    assert len(terms) > 40
    assert [word for word in terms if word not in used] == []
    assert len(set(terms)) == len(terms)
