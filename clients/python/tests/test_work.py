"""Calls that are ended and called again: what is done is not done once more, and what comes out is the same."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from neardup.__main__ import _job, main
from neardup.arguments import parser
from neardup.server import Lasting, PrivateServer
from neardup.work import Work

from .test_life import LIMIT, comparing, documents, is_gone, place, small, until, working_in  # noqa: F401
from .test_shards import lines, read_zst

ENDED = Path(__file__).with_name("ended.py")


def rows_of(file: int) -> list[dict[str, Any]]:
    """Rows of which every third one is a near copy of a row of any file, and with a passage that all files have."""
    drawn = random.Random(7)
    texts = [" ".join(f"w{drawn.randrange(3000)}" for _ in range(40)) for _ in range(15)]
    shared = " ".join(f"s{n}" for n in range(20))
    drawn = random.Random(file)
    found = []
    for number in range(40):
        text = texts[drawn.randrange(15)] if number % 3 == 0 else " ".join(f"v{file}x{number}x{n}" for n in range(40))
        more = f" {shared}" if number % 5 == 0 else ""
        found.append({"url": f"{file}/{number}", "body": f"{text} only{file}x{number}{more}", "score": number})
    return found


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.jsonl.zst").write_bytes(zstandard.compress(lines(rows_of(0))))
    pq.write_table(pa.Table.from_pylist(rows_of(1)), folder / "b.parquet", row_group_size=25)
    return folder


COMMANDS = {
    "dedup": ["dedup", "--keep", "max:score", "--threshold", "0.7"],
    "cut": ["cut", "--min-length", "8", "--min-left", "30"],
}


def contents(folder: Path) -> dict[str, Any]:
    """What is in the files of a folder; compressed ones may differ in their bytes."""
    found: dict[str, Any] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = str(path.relative_to(folder))
        if path.suffix == ".parquet":
            found[name] = pq.read_table(path).to_pylist()
        else:
            found[name] = read_zst(path) if path.suffix == ".zst" else path.read_text()
    return found


def ended(place: Path, tmp_path: Path, when: str, which: int, *arguments: object) -> subprocess.CompletedProcess[str]:  # noqa: F811
    command = [sys.executable, str(ENDED), str(tmp_path / "log"), when, str(which), *map(str, arguments)]
    return subprocess.run(
        command,
        env={**os.environ, "TMPDIR": str(place)},
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )


def whole(tmp_path: Path, dsn: str, command: str, shards: Path) -> dict[str, Any]:
    """What an undisturbed call writes."""
    out = tmp_path / "expected"
    more = ["--removed", out / "gone.jsonl"] + (["--runs", out / "runs.jsonl"] if command == "cut" else [])
    out.mkdir()
    arguments = [*COMMANDS[command], shards, f"{out}/", *more, "--dsn", dsn, "--quiet"]
    assert main([str(argument) for argument in arguments]) == 0
    found = contents(out)
    assert len(found["gone.jsonl"].splitlines()) > 5
    return found


@pytest.mark.parametrize(("command", "when", "which"), [("dedup", "before", 2), ("cut", "after", 3)])
def test_ended_at_each_step(
    place: Path,  # noqa: F811
    tmp_path: Path,
    dsn: str,
    shards: Path,
    command: str,
    when: str,
    which: int,
) -> None:
    """Each call does a step and a half, and goes on from there; or it does some, and is ended between two."""
    expected = whole(tmp_path, dsn, command, shards)
    out, work = tmp_path / "out", place / "work"
    arguments: list[object] = [*COMMANDS[command], shards, f"{out}/", "--removed", out / "gone.jsonl", "--work", work]
    arguments += ["--runs", out / "runs.jsonl"] if command == "cut" else []
    for _ in range(20):
        ran = ended(place, tmp_path, when, which, *arguments)
        if ran.returncode == 0:
            break
        assert ran.returncode == -signal.SIGKILL, ran.stderr
        names = {path.name for path in out.rglob("*") if path.is_file() and path.suffix not in (".part", ".whole")}
        assert names in (set(), {Path(name).name for name in expected}), "all files get their names at the end"
    assert ran.returncode == 0, ran.stderr
    assert "goes on with what an earlier call has done" in ran.stderr
    assert contents(out) == expected
    log = (tmp_path / "log").read_text().splitlines()
    # Each file by parts, of which each was loaded once.
    loaded = [line for line in log if line.startswith("neardup_docs")]
    parts = ["some 20 rows", "some 40 rows", "all 40 rows"]
    assert loaded == [f"neardup_docs {file}: {part}" for file in range(2) for part in parts]
    steps = {"dedup": ["rows compared"], "cut": ["texts cut", "runs found"]}[command]
    made = {"dedup": [], "cut": ["whole runs.jsonl"]}[command]
    files = ["whole a.jsonl.zst", "whole b.parquet"]
    rest = log[len(loaded) :]
    assert rest[: 1 + len(steps)] == ["index neardup_docs", *steps]
    assert sorted(rest[1 + len(steps) :]) == sorted([*made, *files, "whole gone.jsonl", "all are whole"])
    assert rest[-1] == "all are whole"
    assert len(set(log)) == len(log), "nothing is done twice"
    assert not work.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["expected", "in", "log", "out"]
    until(is_gone(place))


def test_one_file_of_another_form(place: Path, tmp_path: Path, shards: Path) -> None:  # noqa: F811
    """The types of columns, which reading told, are known when what was read is not read once more."""
    # The path of a socket could not be so long.
    out, work = tmp_path / "out.parquet", place / ("work" * 25)
    (shards / "b.jsonl").write_bytes(lines(rows_of(1)))
    arguments = ["dedup", shards / "b.jsonl", shards / "a.jsonl.zst", out, "--mark", "--work", work, "--quiet"]
    while "index" not in ((tmp_path / "log").read_text() if (tmp_path / "log").exists() else ""):
        ran = ended(place, tmp_path, "after", 7, *arguments)
        assert ran.returncode == -signal.SIGKILL, ran.stderr
    ran = ended(place, tmp_path, "never", 0, *arguments)
    assert ran.returncode == 0, ran.stderr
    table = pq.read_table(out)
    assert table.schema.field("score").type == pa.int64()
    assert table["url"].to_pylist() == [row["url"] for file in (1, 0) for row in rows_of(file)]
    assert 0 < table["kept"].to_pylist().count(False) < 40


def test_killed_while_it_compares(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: F811
    """The watchdog ends the server and leaves its files; another call is refused, the same one goes on."""
    source = documents(tmp_path / "in.jsonl", 1000, 400)
    out, work = tmp_path / "out.jsonl", place / "work"
    arguments = ["dedup", str(source), str(out), "--method", "edit", "--threshold", "0.3", "--threads", "1"]
    arguments += ["--quiet", "--work", str(work)]
    running = subprocess.Popen(
        [sys.executable, "-m", "neardup", *arguments],
        env={**os.environ, "TMPDIR": str(place)},
        stderr=subprocess.DEVNULL,
    )
    until(lambda: comparing(place), running)
    assert main(arguments) == 1
    assert "is of another call, which runs" in capsys.readouterr().err
    running.kill()
    running.wait()
    until(lambda: [path.name for path in place.iterdir()] == ["work"] and not working_in(place))
    assert (work / "data/PG_VERSION").exists()
    said = {
        "--threshold was 0.3 and is 0.9": ["--threshold", "0.9"],
        '--method was "edit" and is "jaccard"': ["--method", "jaccard"],
        "--keep was": ["--keep", "first"],
        "--removed was null and is": ["--removed", str(tmp_path / "gone.jsonl")],
    }
    for words, changed in said.items():
        assert main([*arguments, *changed]) == 1
        told = capsys.readouterr().err
        assert words in told
        assert "Call it as it was, or remove the folder to start again" in told
    whole_text = source.read_bytes()
    with source.open("ab") as more:
        more.write(b'{"body": "one more"}\n')
    assert main(arguments) == 1
    assert "in.jsonl has changed" in capsys.readouterr().err
    assert main([*arguments, "--dsn", "dbname=x"]) == 1
    assert "does not go with --dsn" in capsys.readouterr().err
    assert not out.exists()
    source.write_bytes(whole_text)
    assert main(arguments) == 1
    assert "in.jsonl has changed" in capsys.readouterr().err
    assert (work / "data/PG_VERSION").exists()


def is_ended(number: int) -> bool:
    """Whether a process has ended; its parent, the first process of the machine, may not know it yet."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


def test_killed_with_its_watchdog(
    place: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server that nobody watches any more is ended by the next one that is started on its files."""
    source, work = documents(tmp_path / "in.jsonl", 1000, 400), place / "work"
    command = [sys.executable, "-m", "neardup", "dedup", str(source), str(tmp_path / "out.jsonl"), "--work", str(work)]
    command += ["--method", "edit", "--threshold", "0.3", "--threads", "1", "--quiet"]
    running = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(place)}, stderr=subprocess.DEVNULL)
    until(lambda: comparing(place), running)
    watchdogs = []
    for number in working_in(place):
        # A process of the server may be gone by now.
        with suppress(OSError):
            if b"watchdog" in Path(f"/proc/{number}/cmdline").read_bytes():
                watchdogs.append(number)
    assert len(watchdogs) == 1
    os.kill(watchdogs[0], signal.SIGKILL)
    running.kill()
    running.wait()
    orphan = int((work / "data/postmaster.pid").read_text().split()[0])
    assert Path(f"/proc/{orphan}/comm").read_text().strip() == "postgres"
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    with Work(work) as held, PrivateServer(lasting=Lasting(held.data, held.lock)) as server:
        assert is_ended(orphan)
        with psycopg.connect(server.dsn) as connection:
            loaded = connection.execute("SELECT rows FROM neardup_work.loaded").fetchall()
        assert {path.name for path in place.iterdir()} == {"work", server.folder.name}
        # Who sweeps meanwhile does not end it.
        with PrivateServer(), psycopg.connect(server.dsn) as connection:
            assert connection.execute("SELECT count(*) FROM neardup_work.neardup_docs").fetchall() == loaded
    assert loaded == [(1000,)]
    assert work.is_dir()


def test_what_is_no_folder_for_work(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: F811
    source = documents(tmp_path / "in.jsonl", 9, 9)
    command = ["dedup", str(source), str(tmp_path / "out.jsonl"), "--quiet", "--work"]
    (place / "mine").mkdir()
    (place / "mine/text").write_text("mine")
    assert main([*command, str(place / "mine")]) == 1
    assert "is not of an earlier call: it has text" in capsys.readouterr().err
    assert main([*command, str(place / "mine/text")]) == 1
    assert "cannot be used" in capsys.readouterr().err
    assert main(["dedup", "-", str(tmp_path / "out.jsonl"), "--quiet", "--work", str(place / "w")]) == 1
    assert "the standard input cannot" in capsys.readouterr().err
    # A call that is wrong leaves nothing, and is told before anything is loaded.
    assert main([*command, str(place / "work"), "--method", "jacard"]) == 1
    assert "jacard" in capsys.readouterr().err
    assert main([*command, str(place / "work"), "--text-column", "none"]) == 1
    assert [path.name for path in place.iterdir()] == ["mine"]
    # One that is there and empty stays.
    (place / "empty").mkdir()
    assert main([*command, str(place / "empty")]) == 0
    assert list((place / "empty").iterdir()) == []
    assert (place / "mine/text").read_text() == "mine"


def test_a_full_disk_and_more_room(place: Path, tmp_path: Path) -> None:  # noqa: F811
    """What was loaded before a disk was full is there when it has room."""
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(6):
        documents(folder / f"{number}.jsonl", 1000, 280, 6 + number)
    with small(place, 40):
        work, out = place / "work", tmp_path / "out"
        command = ["dedup", f"{folder}", f"{out}/", "--work", str(work)]
        ran = ended(Path("/tmp"), tmp_path, "never", 0, *command)
        assert ran.returncode == 1
        *_, stays, full = ran.stderr.splitlines()
        assert full == f"neardup: no space is left in {work} (--work), or in /tmp"
        assert stays == f"neardup: what is done stays in {work}: the same call goes on with it"
        before = (tmp_path / "log").read_text().splitlines()
        assert "neardup_docs 0: all 1000 rows" in before
        assert list(out.glob("*")) == []
        subprocess.run(["mount", "-o", "remount,size=900m", place], check=True)
        ran = ended(Path("/tmp"), tmp_path, "never", 0, *command)
        assert ran.returncode == 0, ran.stderr
        assert not work.exists()
    log = (tmp_path / "log").read_text().splitlines()
    assert len(set(log)) == len(log), "nothing is done twice"
    assert sum(len(path.read_text().splitlines()) for path in out.iterdir()) == 6_000


AS_USER = """
import encodings.idna, os, pwd, sys
import psycopg, neardup.__main__, neardup.dedup, neardup.work, neardup.files.lines
with open(sys.argv[0 + 1]) as file:
    code = compile(file.read(), "ended.py", "exec")
if sys.argv[2] != "root":
    # Its watchdog could not be started where only root can read Python.
    user, sys.executable = pwd.getpwnam(sys.argv[2]), ""
    os.setgroups([])
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)
sys.argv[:3] = ["ended.py"]
exec(code, {"__name__": "__main__"})
"""
"""Runs `ended.py` as a user, who may not be able to read this package."""


@pytest.mark.parametrize("user", ["root", "postgres"])
def test_relative_paths(place: Path, user: str) -> None:  # noqa: F811
    """As root, whose server is of another user, and as an ordinary user: programs of the server run elsewhere."""
    if os.geteuid() != 0:
        pytest.skip("another user takes root")
    folder = place / "here"
    folder.mkdir()
    documents(folder / "in.jsonl", 30, 9)
    shutil.chown(folder, user)
    place.chmod(0o777)
    command = ["dedup", "in.jsonl", "out.jsonl", "--work", "deep/work"]

    def ran(when: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", AS_USER, str(ENDED), user, "log", when, "3", *command],
            cwd=folder,
            env={**os.environ, "TMPDIR": str(place)},
            capture_output=True,
            text=True,
            check=False,
        )

    first = ran("after")
    assert first.returncode == -signal.SIGKILL, first.stderr
    second = ran("never")
    assert second.returncode == 0, second.stderr
    assert "goes on with what an earlier call has done" in second.stderr
    assert len((folder / "out.jsonl").read_text().splitlines()) == 30
    assert not (folder / "deep/work").exists()


def planted(work: Path, arguments: list[str], names: list[list[str]]) -> None:
    """The folder as it would be if all that is left to do were to move files."""
    work.mkdir(exist_ok=True)
    with ExitStack() as stack:
        given = parser().parse_args([*arguments, "--work", str(work)])
        held = stack.enter_context(Work(work))
        _job(given, stack, held)
        journal = json.loads((work / "journal").read_text())
    work.mkdir(exist_ok=True)
    (work / "journal").write_text(json.dumps(journal | {"made": False, "names": names, "result": {}}))


def test_the_folder_of_another_user_is_not_believed(
    place: Path,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What stands in it names files that are moved over any others."""
    documents(tmp_path / "in.jsonl", 9, 9)
    work, mine, evil = place / "work", tmp_path / "mine", tmp_path / "evil"
    arguments = ["dedup", str(tmp_path / "in.jsonl"), str(tmp_path / "out.jsonl"), "--quiet"]
    mine.write_text("mine")
    evil.write_text("evil")
    planted(work, arguments, [[str(evil), str(mine)]])
    command = [*arguments, "--work", str(work)]
    work.chmod(0o775)
    assert main(command) == 1
    assert "can be written by other users" in capsys.readouterr().err
    work.chmod(0o755)
    if os.geteuid() == 0:
        shutil.chown(work, "postgres")
        assert main(command) == 1
        said = capsys.readouterr().err
        assert "belongs to the user postgres, who may have put anything into it" in said
        shutil.chown(work, "root")
        # A folder of ours with a file of another: it could have been a link to one, too.
        shutil.chown(work / "journal", "postgres")
        assert main(command) == 1
        assert "belongs to the user postgres" in capsys.readouterr().err
        shutil.chown(work / "journal", "root")
    (place / "real").symlink_to(work)
    (work / "journal").rename(place / "elsewhere")
    (work / "journal").symlink_to(place / "elsewhere")
    assert main(command) == 1
    assert "journal cannot be read" in capsys.readouterr().err
    assert mine.read_text() == "mine"
    # What is ours and nobody else can write is believed.
    (work / "journal").unlink()
    (place / "elsewhere").rename(work / "journal")
    assert main(command) == 0
    assert mine.read_text() == "evil"
    assert (tmp_path / "in.jsonl").stat().st_mode & 0o777 == 0o644


def test_the_server_of_root_writes_as_its_user(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """Nothing is written by root into a folder of another user, who could put a link in its place."""
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    with PrivateServer(settings={"application_name": 'it\'s a "name" $HOME \\'}) as server:
        configured = (server.folder / "data/postgresql.conf").read_text()
        assert "listen_addresses = ''" not in configured
        with psycopg.connect(server.dsn) as connection:
            rows = connection.execute(
                "SELECT current_setting('listen_addresses'), current_setting('autovacuum')"
            ).fetchall()
            name = connection.execute("SELECT reset_val FROM pg_settings WHERE name = 'application_name'").fetchall()
        assert rows == [("", "off")]
        assert name == [('it\'s a "name" $HOME \\',)]
        if os.geteuid() == 0:
            owners = {path.name: path.owner() for path in server.folder.rglob("*") if not path.is_symlink()}
            assert {name for name, owner in owners.items() if owner != "postgres"} == {"of-neardup"}
        log = server.folder / "log"
        os.mkfifo(server.folder / "pipe")
        (server.folder / "pipe").rename(log)
        # Neither a pipe nor a link is read in place of the log.
        assert server._log() == ""
        log.unlink()
        log.symlink_to("/etc/passwd")
        assert server._log() == ""
