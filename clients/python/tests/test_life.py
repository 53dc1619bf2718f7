"""The end of the command, however it comes: terminals that close, kill -9, full disks; and what it says on its way."""

import fcntl
import json
import os
import pty
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import Any, Self

import psycopg
import pytest

from neardup import template
from neardup.ahead import Ahead
from neardup.hints import as_flags, notice
from neardup.progress import Progress
from neardup.server import PrivateServer

from .bars import Silent
from .test_command import wrong

LIMIT = 120.0
"""Seconds after which what is waited for is not coming any more."""


def until(condition: Callable[[], Any], running: subprocess.Popen[Any] | None = None) -> Any:
    ends = time.monotonic() + LIMIT
    while not (found := condition()):
        assert time.monotonic() < ends, "it does not come"
        assert running is None or running.poll() is None, "it ended before"
        time.sleep(0.01)
    return found


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """What a shell starts in the background ignores SIGINT, what nohup starts SIGHUP: so would the commands here."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGHUP)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, was in before.items():
        signal.signal(number, was)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder for private servers; the test fails where one of their processes is left, and ends it."""
    with tempfile.TemporaryDirectory(prefix="nd", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
        left = working_in(Path(folder))
        for number in left:
            with suppress(OSError):
                os.kill(number, signal.SIGKILL)
        assert not left


def working_in(folder: Path) -> list[int]:
    """The processes that work in a folder: of a server all of them, and its watchdogs, which name it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            here = str((process / "cwd").readlink()).startswith(f"{folder}/")
            watches = f"{folder}/neardup-".encode() in (process / "cmdline").read_bytes()
            if here or (watches and b"watchdog" in (process / "cmdline").read_bytes()):
                found.append(int(process.name))
    return found


def is_gone(place: Path) -> Callable[[], bool]:
    return lambda: not list(place.iterdir()) and not working_in(place)


def documents(path: Path, rows: int, words: int, letters: int = 6) -> Path:
    drawn = random.Random(8)
    vocabulary = ["".join(drawn.choices("abcdefghijklmnopqrstuvwxyz", k=letters)) for _ in range(20_000)]
    with path.open("w") as out:
        for _ in range(rows):
            out.write(json.dumps({"body": " ".join(drawn.choices(vocabulary, k=words))}) + "\n")
    return path


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "neardup", "dedup", *map(str, arguments)]


@pytest.fixture
def long(tmp_path: Path) -> list[str]:
    """A command that compares long after it has begun: each text with each, character by character."""
    source = documents(tmp_path / "in.jsonl", 2500, 400)
    return command(source, tmp_path / "out.jsonl", "--method", "edit", "--threshold", "0.3", "--threads", "1")


def comparing(place: Path) -> bool:
    for log in place.glob("neardup-*/log"):
        with (
            suppress(psycopg.Error),
            psycopg.connect(f"host={log.parent} port=5432 user=postgres dbname=postgres") as connection,
        ):
            asked = """SELECT count(*) FROM pg_stat_activity
                WHERE state = 'active' AND query LIKE 'CREATE %TABLE %neardup_gone%'"""
            return connection.execute(asked).fetchone() == (1,)
    return False


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_while_it_compares(place: Path, long: list[str], number: signal.Signals, tmp_path: Path) -> None:
    running = subprocess.Popen(long, env={**os.environ, "TMPDIR": str(place)}, stderr=subprocess.PIPE)
    until(lambda: comparing(place), running)
    running.send_signal(number)
    _, said = running.communicate(timeout=LIMIT)
    assert running.returncode == (-number if number == signal.SIGKILL else 128 + number)
    if number != signal.SIGKILL:
        assert b"Traceback" not in said
        assert b"neardup: interrupted: no file of OUT was written, and the files of the server are removed" in said
        assert list(place.iterdir()) == []
    until(is_gone(place))
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_a_signal_while_the_server_starts() -> None:
    """It is stopped, though it has not come so far when the signal comes."""
    waits, interrupted, said = Event(), Event(), []

    class Slow:
        def __enter__(self) -> Self:
            waits.wait(LIMIT)
            os.kill(os.getpid(), signal.SIGINT)
            interrupted.wait(LIMIT)
            said.append("runs")
            return self

        def __exit__(self, *_: object) -> None:
            said.append("is stopped")

    def wait() -> None:
        with Ahead(Slow) as ahead:  # type: ignore[arg-type]
            try:
                waits.set()
                ahead.server()
            except KeyboardInterrupt:
                interrupted.set()
                raise

    with pytest.raises(KeyboardInterrupt):
        wait()
    assert said == ["runs", "is stopped"]


def test_kill_while_the_server_is_made(place: Path, long: list[str]) -> None:
    running = subprocess.Popen(long, env={**os.environ, "TMPDIR": str(place)}, stderr=subprocess.DEVNULL)
    until(lambda: list(place.glob("neardup-*/data/PG_VERSION")), running)
    running.kill()
    running.wait()
    until(is_gone(place))


TAKES_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


def in_terminal(place: Path, long: list[str]) -> tuple[subprocess.Popen[bytes], int]:
    """The command in a terminal of its own, and the other end of that."""
    terminal, its = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-c", TAKES_TERMINAL, *long],
        env={**os.environ, "TMPDIR": str(place)},
        stdin=its,
        stdout=its,
        stderr=its,
        start_new_session=True,
    )
    os.close(its)
    return running, terminal


def test_a_terminal_that_closes(place: Path, long: list[str]) -> None:
    running, terminal = in_terminal(place, long)
    try:
        until(lambda: comparing(place), running)
    finally:
        # The system sends SIGHUP to those whose terminal this was.
        os.close(terminal)
    assert running.wait(LIMIT) == 128 + signal.SIGHUP
    until(is_gone(place))


def test_what_is_ignored_stays_ignored(place: Path, tmp_path: Path) -> None:
    source = documents(tmp_path / "in.jsonl", 100, 50)
    running = subprocess.Popen(
        ["nohup", *command(source, tmp_path / "out.jsonl", "--quiet")],
        env={**os.environ, "TMPDIR": str(place)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    until(lambda: list(place.glob("neardup-*/data/PG_VERSION")), running)
    running.send_signal(signal.SIGHUP)
    running.communicate(timeout=LIMIT)
    assert running.returncode == 0
    assert is_gone(place)()


def test_the_next_run_sweeps(place: Path, long: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    running = subprocess.Popen(long, env={**os.environ, "TMPDIR": str(place)}, stderr=subprocess.DEVNULL)
    until(lambda: comparing(place), running)
    (folder,) = place.iterdir()
    watchdogs = [
        int(process.name)
        for process in Path("/proc").glob("[0-9]*")
        if int(process.name) in working_in(place) and b"watchdog" in (process / "cmdline").read_bytes()
    ]
    assert len(watchdogs) == 1
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    others = [place / "neardup-other", place / "neardup-link", place / "neardup-held"]
    others[0].mkdir()
    (others[0] / "mine").write_text("not of a server")
    others[1].symlink_to(others[0])
    others[2].mkdir()
    # The one that runs is not swept.
    with PrivateServer():
        assert folder.is_dir()
    os.kill(watchdogs[0], signal.SIGKILL)
    running.kill()
    running.wait()
    server_number = int((folder / "data" / "postmaster.pid").read_text().split()[0])
    assert server_number in working_in(place)
    if os.geteuid() == 0:
        for other in (others[0], others[2]):
            shutil.chown(other, "postgres")
    (others[2] / "of-neardup").write_text("")
    with (others[2] / "of-neardup").open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with PrivateServer():
            assert not folder.exists()
        assert sorted(path.name for path in place.iterdir()) == ["neardup-held", "neardup-link", "neardup-other"]
    assert server_number not in working_in(place)
    # Its lock is nobody's now, and it is of a run that is dead.
    with PrivateServer():
        assert sorted(path.name for path in place.iterdir() if path in others) == ["neardup-link", "neardup-other"]


@contextmanager
def small(place: Path, megabytes: float) -> Iterator[None]:
    """A file system of a few megabytes."""
    size = f"size={int(megabytes * 1024)}k,mode=0777"
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("mounting a small file system takes root")
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", place], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no tmpfs can be mounted: {done.stderr.decode().strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", place], check=True)


@pytest.mark.parametrize("kind", ["jsonl", "csv", "jsonl.gz", "parquet"])
def test_a_full_disk_of_the_output(place: Path, kind: str, tmp_path: Path, dsn: str) -> None:
    source = documents(tmp_path / "in.jsonl", 2000, 200)
    with small(place, 0.3):
        out = place / f"out.{kind}"
        ran = subprocess.run(command(source, out, "--dsn", dsn, "--quiet"), capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stdout) == (1, "")
        assert ran.stderr == f"neardup: {out} cannot be written: No space left on device\n"
        assert list(place.iterdir()) == []
        # One of two that does not become whole: neither is there.
        ran = subprocess.run(
            command(
                source, tmp_path / "out.jsonl", "--dsn", dsn, "--removed", place / "gone.jsonl", "--mark", "--quiet"
            ),
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode in (0, 1)
        assert list(place.glob("*.part")) == []
    assert list(tmp_path.glob("*.part")) == []


@pytest.mark.parametrize("megabytes", [8, 32])
def test_a_full_disk_of_the_private_server(place: Path, megabytes: int, tmp_path: Path) -> None:
    """Where a new cluster finds no room, and where the documents do not."""
    source = documents(tmp_path / "in.jsonl", 10_000, 280) if megabytes > 20 else documents(tmp_path / "in.jsonl", 9, 9)
    with small(place, megabytes):
        environment = {**os.environ, "TMPDIR": str(place)}
        ran = subprocess.run(
            command(source, tmp_path / "out.jsonl", "--quiet"),
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 1
        lines = ran.stderr.splitlines()
        assert len(lines) == 1, ran.stderr
        assert lines[0].startswith(f"neardup: no space is left in {place}, where the private server has its files")
        assert [path.name for path in place.iterdir()] == []
        assert working_in(place) == []
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_a_notice_before_the_work_ends(place: Path, long: list[str]) -> None:
    running, terminal = in_terminal(place, long)
    said = b""
    ends = time.monotonic() + LIMIT
    try:
        while b"HINT:" not in said:
            assert time.monotonic() < ends, said
            if select.select([terminal], [], [], 0.1)[0]:
                said += os.read(terminal, 4096)
        # It is still at work, and the bar has not come to its end.
        assert comparing(place)
        shown = said.decode(errors="replace")
        assert "neardup: " in shown
        assert "Of bodies, jaccard compares words" in shown
        assert "removed, in" not in shown
        running.send_signal(signal.SIGINT)
        with suppress(OSError):
            while os.read(terminal, 4096):
                pass
    finally:
        os.close(terminal)
        running.send_signal(signal.SIGHUP)
        status = running.wait(LIMIT)
    assert status in (128 + signal.SIGINT, 128 + signal.SIGHUP)
    until(is_gone(place))


def test_a_bar_is_not_full_while_pairs_come() -> None:
    bar = Silent()
    showing = Progress(bar, title="comparing")
    shown = []
    for told in ("reading, 600 documents", "ordering", "joining, 45 %, 12 pairs", "joining, 100 %, 40 pairs"):
        showing.notice(f"eliminate: {told}")
        shown.append((bar.description, bar.n, bar.postfix))
    assert shown == [
        ("comparing: reading", 0, "600 documents"),
        ("comparing: ordering", 0, ""),
        ("comparing: joining", 45, "12 pairs"),
        ("comparing: joining, the rest is of unknown size", 99, "40 pairs"),
    ]
    showing.notice("near_duplicates_into: step 7 of 7, order: 12 rows")
    assert bar.n == 100


CALL = (
    "SELECT * FROM eliminate('pg_temp.neardup_docs', 0.8, id_column => 'id', text_column => 'body', method => 'minhash'"
)
HINTS = {
    f"Methods: jaccard, cosine. For example: {CALL});": (
        "Methods: jaccard, cosine. For example: --threshold 0.8 --method minhash"
    ),
    f"""For example: {CALL}, options => '{{"recall": 0.95}}', keep => 'first');""": (
        """For example: --threshold 0.8 --method minhash --options '{"recall": 0.95}' --keep first"""
    ),
    "Lower the setting: SET neardup.threads = 1;": "Lower the setting: --threads 1",
    "A text is cut like this: tokenizer => 'words'": "A text is cut like this: --tokenizer words",
    "Cast it. SELECT 1": "Cast it.",
    "Of bodies, jaccard compares words; edit is for names.": "Of bodies, jaccard compares words; edit is for names.",
    "Name a column of texts with text_column => '…'.": None,
    "SELECT * FROM near_duplicates('docs', 0.8);": "--threshold 0.8",
    "SET neardup.memory = '512MB'; or work on a part of the documents at a time, through a view.": "--memory 512MB.",
    f"For example: {CALL}, site_column => 'x');": None,
    "Work on a part of the documents at a time, through a view.": None,
    'Valid units for this parameter are "B", "kB".': 'Valid units for this parameter are "B", "kB".',
}


@pytest.mark.parametrize("hint", HINTS)
def test_hints_as_flags(hint: str) -> None:
    assert as_flags(hint) == HINTS[hint]


def test_notices_as_flags() -> None:
    told = "eliminate: the exact join finds them; options => '{\"hand_over\": false}' leaves them to minhash"
    assert notice(told) == "the exact join finds them; --options '{\"hand_over\": false}' leaves them to minhash"
    assert notice("eliminate: 3 of 4 have none; see near_duplicates_stats()") == "3 of 4 have none"


@pytest.mark.parametrize(
    ("wrong_ones", "expected"),
    [
        (["--method", "jacard"], "For example: --threshold 0.8 --method cosine"),
        (["--tokenizer", "wrds"], "--tokenizer"),
        (["--shingle", "0"], "--shingle 5"),
        (["--method", "minhash", "--options", '{"recal": 1}'], "--method minhash --options '{"),
        (["--method", "minhash", "--options", '{"recall": 7}'], "--method minhash --options '{"),
        (["--threshold", "7"], "--threshold 0.8"),
    ],
)
def test_hints_of_the_server(
    dsn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong_ones: list[str], expected: str
) -> None:
    source = documents(tmp_path / "in.jsonl", 9, 9)
    said = wrong(capsys, dsn, source, tmp_path / "out.jsonl", *wrong_ones)
    assert "HINT: " in said
    assert expected in said
    for word in ("SELECT", "=>", "neardup_docs", "id_column"):
        assert word not in said


def test_a_cluster_is_kept(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second server is started without initdb; but not by what another user could have put there."""
    cache = place / "cache" / "neardup"
    monkeypatch.setattr(template, "_cache", lambda _: cache)
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    place.chmod(0o777)
    ran: list[str] = []
    inner = PrivateServer._run

    def run(self: PrivateServer, program: str, *arguments: Any) -> None:
        ran.append(program.rpartition("/")[2])
        inner(self, program, *arguments)

    monkeypatch.setattr(PrivateServer, "_run", run)

    def programs() -> list[str]:
        ran.clear()
        with PrivateServer() as server, psycopg.connect(server.dsn) as connection:
            assert connection.execute("SELECT words('A b')").fetchone() == (["a", "b"],)
        return ran[:-1]

    assert programs() == ["initdb", "sh", "pg_ctl"]
    assert len(list(cache.iterdir())) == 1
    assert programs() == ["sh", "pg_ctl"]
    cache.chmod(0o770)
    assert PrivateServer()._template() is None
    cache.chmod(0o700)
    if os.geteuid() == 0:
        shutil.chown(cache, "nobody")
        assert PrivateServer()._template() is None
        shutil.chown(cache, "postgres")
    assert {path.name for path in place.iterdir()} == {"cache"}
