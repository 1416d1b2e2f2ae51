"""The shell: scripts with what they print, mistakes, and the terminal."""

from pathlib import Path

import pytest

from tests.engines import IN_PROCESS
from tests.shell.conftest import Tidelog
from tidelog import Database
from tidelog.shell.interactive.interpreter import Interpreter
from tidelog.shell.interactive.recording import Recording
from tidelog.shell.interactive.terminal_shell import INSIDE, MORE, PROMPT, converse, words

SCRIPTS = Path(__file__).parent / "scripts"
CASES = sorted(folder.name for folder in SCRIPTS.iterdir())
SHOP = """\
input relation Stock(item: string, count: u8) primary key (s) s.item
input relation Plain(x: u8)
output relation Few(item: string)
index Stock_by_count(count: u8) on Stock(_, count)
Few(item) :- Stock(item, count), count < 10.
"""


@pytest.mark.parametrize("engine", IN_PROCESS)
@pytest.mark.parametrize("case", CASES)
def test_scripts(tidelog: Tidelog, monkeypatch: pytest.MonkeyPatch, case: str, engine: str) -> None:
    monkeypatch.chdir(SCRIPTS / case)
    ended = tidelog("shell", "program.dl", "--engine", engine, stdin=Path("script.dat").read_text())
    assert (ended.status, ended.err) == (0, "")
    assert ended.out == Path("expected.txt").read_text()


@pytest.fixture
def shop(tmp_path: Path) -> None:
    (tmp_path / "shop.dl").write_text(SHOP)


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("start;\nstrat;", "line 2: expected a command (`:help` lists them), found `strat;`"),
        ("start;\n\ninsert Stok(1);", "line 3: the program has no relation `Stok`; did you mean `Stock`?"),
        ("insert Plain(1);", "line 1: insert: no transaction is in progress: `start;` begins one"),
        ("commit;", "line 1: commit: no transaction is in progress: `start;` begins one"),
        ("rollback;", "line 1: rollback: no transaction is in progress: `start;` begins one"),
        ("start; start;", "line 1: a transaction is in progress already: commit or roll it back first"),
        ("start; insert Plain(256);", "line 1: expected a bit<8>, between 0 and 255, found 256"),
        ('start; insert Plain("a");', 'line 1: expected a bit<8>, found "a"'),
        ("start; insert Plain(1, 2);", "line 1: Plain has 1 fields (x), but 2 are given"),
        ("start; insert Plain(.y = 2);", "line 1: Plain has no field y"),
        ("start;\ninsert Plain(1", "line 2: expected `,` or `)`, found `echo still here;`"),
        ("start; insert Plain 1;", "line 1: expected `(`, found `1;`"),
        ("start; insert Plain(1) insert Plain(2);", "line 1: expected `,` or `;`, found `insert Plain(2);`"),
        ('start; insert Few("a");', "line 1: Few is an output relation: only input relations take facts"),
        (
            "start; delete_key Plain 1;",
            "line 1: Plain has no primary key: its declaration needs `primary key (x) x.column`",
        ),
        (
            'start; modify Stock "tea" <- Stock{.count = 1};',
            "line 1: no row has the primary key 'tea'; upsert would insert one",
        ),
        (
            'start; insert Stock("tea", 1), insert Stock("tea", 2);',
            (
                'line 1: Stock{.item = "tea", .count = 2} has the same primary key as '
                'Stock{.item = "tea", .count = 1}; upsert replaces it'
            ),
        ),
        (
            'start; insert Stock("tea", 1);\nmodify Stock "tea" <- Stock{.item = "jam"};',
            (
                'line 2: Stock{.item = "jam", .count = 1} has another primary key than '
                'Stock{.item = "tea", .count = 1}: delete, then insert'
            ),
        ),
        ("dump Stok;", "line 1: the program has no relation `Stok`; did you mean `Stock`?"),
        ("clear Stock;", "line 1: clear: no transaction is in progress: `start;` begins one"),
        ("dump_index Stock_by;", "line 1: the program has no index `Stock_by`; did you mean `Stock_by_count`?"),
        (
            "query_index Stock_by_count(1, 2);",
            "index Stock_by_count has the parameters (count: bit<8>), but 2 were given",
        ),
        ('start; insert Stock(%"no.txt", 1);', "cannot read a string from no.txt"),
        ('start; insert Stock(@xml"a", 1);', "there is no notation `xml`; there is `json`"),
        ('start; insert Stock(@json"1", 1);', "JSON for a string: expected a string, found 1"),
        ('start; insert Stock("\\q", 1);', "a string has the unknown escape `\\q`"),
        (
            f"start; insert Plain({'9' * 5000});",
            "between 0 and 255, found 999999999999999999999999999999999999999999999999999999999999... (5000 digits)",
        ),
        (f"start; insert Plain({'[' * 5000});", "a value is nested too deeply"),
        ("profile gpu on;", "profile knows `cpu`, `change` and `timely`, each `on` or `off`"),
        (":preview\n", "preview: no transaction is in progress"),
        (":rules\n", "there is no command `:rules`; did you mean `rule`?"),
        (":rule\n", "`:rule` is followed by `add`, `remove` or `list`"),
        (":rule remove nothing\n", "no rule in force has the name or text `nothing`"),
        (":rule add Few(x) :- Nothing(x).\n", "unknown relation `Nothing`"),
        (":plan picture\n", "there is no form `picture` of a plan"),
        (":strategy rankd\n", "there is no strategy `rankd`; there are auto, ranked, "),
        (":strategy rankd\n", "; did you mean `ranked`?"),
    ],
)
def test_mistakes_end_a_script(tidelog: Tidelog, script: str, message: str) -> None:
    ended = tidelog("shell", "shop.dl", stdin=script + "\necho still here;\n")
    assert message in ended.err
    assert ended.out == ""
    assert ended.status == 1


@pytest.mark.usefixtures("shop")
def test_a_command_without_its_end_is_told(tidelog: Tidelog) -> None:
    ended = tidelog("shell", "shop.dl", stdin="echo one;\n\nexit")
    assert (ended.status, ended.out) == (0, "one\n")
    assert ended.err == "warning: line 3: the last command has no `;` and was not executed\n"


@pytest.mark.usefixtures("shop")
def test_an_open_transaction_is_told(tidelog: Tidelog) -> None:
    ended = tidelog("shell", "shop.dl", stdin="start;\ninsert Plain(1);\n")
    assert (ended.status, ended.out) == (0, "")
    assert ended.err == "warning: the script ends inside a transaction, which is dropped\n"


@pytest.mark.usefixtures("shop")
def test_commands_that_only_take_or_tell_time(tidelog: Tidelog) -> None:
    script = (
        'profile cpu on; profile change "off"; log_level -1; mssleep 1; sleep 0x1; timestamp; profile; '
        'start; insert Stock("tea", 1); commit; profile;'
    )
    first, second, third, *rest = tidelog("shell", "shop.dl", stdin=script).out.split("\n")
    assert int(first.removeprefix("Timestamp: ")) > 2_000_000
    assert second == "Nothing has been committed."
    assert third.startswith("Commit 1: ")
    assert any(line.startswith("  Few: ") for line in rest)


@pytest.mark.usefixtures("shop")
def test_own_commands_that_show(tidelog: Tidelog) -> None:
    ended = tidelog("shell", "shop.dl", "--engine", "reference", stdin=":help\n:strategy\n:plan json\n")
    assert ended.err == ""
    assert ended.out.startswith("start;  ")
    assert "\nauto on engine reference\n{" in ended.out


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("engine", IN_PROCESS)
def test_the_strategy_can_change(tidelog: Tidelog, engine: str) -> None:
    script = (
        'start; insert Stock("tea", 1); commit;\n:strategy recompute\n:strategy\ndump;\n'
        'start; insert Stock("jam", 1);\ndelete_key Stock "tea"; commit dump_changes;\n:strategy auto\n:verify\ndump;'
    )
    ended = tidelog("shell", "shop.dl", "--engine", engine, stdin=script)
    assert ended.err == ""
    assert f"recompute on engine {engine}\n" in ended.out
    assert 'Few:\nFew{.item = "jam"}: +1\nFew{.item = "tea"}: -1\n' in ended.out
    assert ended.out.endswith('scratch.\nFew:\nFew{.item = "jam"}\n\n')
    refused = tidelog("shell", "shop.dl", "--engine", engine, stdin="start;\n:strategy recompute\n").err
    assert "line 2: this thread has a transaction open already" in refused


@pytest.mark.usefixtures("shop")
def test_options(tidelog: Tidelog, tmp_path: Path) -> None:
    (tmp_path / "facts.dl").write_text("output relation A(x: u8)  relation B(x: u8)  A(1).  B(2).")
    assert tidelog("shell", "facts.dl", stdin="").out == "A:\nA{.x = 1}: +1\n"
    assert tidelog("shell", "facts.dl", "--no-init-snapshot", stdin="dump;").out == "A:\nA{.x = 1}\n\n"
    internal = tidelog("shell", "facts.dl", "--output-internal-relations", stdin="dump B;").out
    assert internal.startswith("A:\nA{.x = 1}: +1\nB:\nB{.x = 2}: +1\nddlog_std::Singleton:\n")
    assert "there is no strategy `fast`" in tidelog("shell", "shop.dl", "--strategy", "fast", stdin="").err


class Typist:
    """Types lines at a prompt; an exception is raised as it is."""

    def __init__(self, *lines: str | BaseException) -> None:
        self._lines = iter(lines)
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        line = next(self._lines, EOFError())
        if isinstance(line, BaseException):
            raise line
        return line


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return []


def test_a_terminal_goes_on_after_mistakes(shown: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    interpreter = Interpreter(Database(SHOP), shown.append)
    typist = Typist(
        "start;",
        "insert Stock(",
        '  "tea", 5);',
        "nonsense;",
        KeyboardInterrupt(),
        "commit dump_changes;",
        "exit;",
        "x",
    )
    converse(Recording(interpreter), typist)
    assert shown == ['Few:\nFew{.item = "tea"}: +1']
    assert typist.prompts == [PROMPT, INSIDE, MORE, INSIDE, INSIDE, INSIDE, PROMPT]
    assert capsys.readouterr().err == "error: expected a command (`:help` lists them), found `nonsense;`\n"


def test_a_terminal_drops_what_was_typed(shown: list[str]) -> None:
    interpreter = Interpreter(Database(SHOP), shown.append)
    converse(Recording(interpreter), Typist("echo not", KeyboardInterrupt(), "echo but this;"))
    assert shown == ["but this"]


def test_words_to_complete() -> None:
    known = words(Interpreter(Database(SHOP), print))
    assert {"insert_or_update", "Stock", "Stock_by_count", "dump_changes", ":rule"} <= set(known)


def test_queries(tidelog: Tidelog, tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text("input relation R(x: u8, t: string)\noutput relation S(x: u8)\nS(x) :- R(x, _).\n")
    script = """
        start;
        insert R(1, "one"), insert R(2, "two"); commit;
        R(x, t)?
        :query R(x, _), not R(x, "one")
        start;
        delete R(1, "one");
        insert R(12, "a?b;");
        S(x),
          x > 1 ?;
        commit;
        R(12, t) ?   ; # is it there
        not R(1, _), S(12)?
        (S(1); S(2))?
        S(9)?
        """.replace(" ; # is it there", "")
    ended = tidelog("shell", "p.dl", stdin=script)
    assert ended.err == ""
    assert ended.out == (
        "2 rows\nx  t\n-  ---\n1  one\n2  two\n1 row\nx\n-\n2\n2 rows\n x\n--\n 2\n12\n"
        "1 row\nt\n----\na?b;\ntrue\ntrue\nfalse\n"
    )


def test_a_goal_without_its_end(tidelog: Tidelog, tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text("input relation R(x: u8)\n")
    assert "line 1: expected a command" in tidelog("shell", "p.dl", stdin="R(x);\nR(y)?\n").err
    assert "was not executed" in tidelog("shell", "p.dl", stdin="R(x),\nR(y)\n").err
    assert "E0405" in tidelog("shell", "p.dl", stdin="R(x, y)?\n").err
