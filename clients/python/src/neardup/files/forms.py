"""What the end of a name says about a file: its kind and its compression; and files of bytes, compressed or plain."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import IO, Any, Final, NamedTuple, cast

from neardup.files.chunks import FileError

KINDS: Final = {
    "parquet": "parquet",
    "arrow": "arrow",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "json": "jsonl",
    "csv": "csv",
    "tsv": "tsv",
    "txt": "txt",
    "warc": "warc",
    "wet": "warc",
}
"""Kinds of files by the ends of their names."""
READ_ONLY: Final = ("txt", "warc")
"""Kinds that are not written."""
COMPRESSIONS: Final = ("gz", "zst", "bz2", "xz")
_WHOLE: Final = ("parquet", "arrow")
"""Kinds that compress by themselves."""


class Form(NamedTuple):
    """How rows are written in a file."""

    kind: str
    compression: str = ""

    @property
    def is_arrow(self) -> bool:
        """Whether pyarrow reads and writes it."""
        return self.kind in _WHOLE

    @property
    def suffix(self) -> str:
        """The end of the name of such a file."""
        return f".{self.kind}" + (f".{self.compression}" if self.compression else "")


JSON_LINES: Final = Form("jsonl")


def form_of(path: PurePath) -> Form | None:
    """The form that the end of a name stands for; None where it stands for none."""
    suffixes = [suffix[1:].lower() for suffix in path.suffixes]
    compression = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSIONS else ""
    kind = KINDS.get(suffixes[-1]) if suffixes else None
    if kind is None or (compression and kind in _WHOLE):
        return None
    return Form(kind, compression)


def require_form(path: PurePath) -> Form:
    """The form of a file, or an error that lists the forms."""
    form = form_of(path)
    if form is None:
        raise FileError(
            f"{path}: the name should end with {', '.join(f'.{kind}' for kind in KINDS)},"
            f" all but the first two also with {', '.join(f'.{each}' for each in COMPRESSIONS)}"
        )
    return form


def require_written(path: PurePath) -> Form:
    """The form of a file that is written."""
    form = require_form(path)
    if form.kind in READ_ONLY:
        raise FileError(f"{path}: .{form.kind} is read, not written; write .jsonl or .parquet")
    return form


def without_suffix(path: PurePath) -> PurePath:
    """A path without the end that says its form."""
    form = form_of(path)
    path = path.with_suffix("") if form is not None and form.compression else path
    return path if form is None else path.with_suffix("")


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError as error:
        raise FileError("files that end with .zst need zstandard: pip install 'neardup[command]'") from error
    return zstandard


_WINDOW: Final = 1 << 31
"""The longest window, that of `zstd --long=31`, as the dumps of Reddit have it: memory only where it is used."""


@contextmanager
def decompressed(raw: IO[bytes], form: Form, name: str) -> Iterator[IO[bytes]]:
    """The bytes that a file stands for; a fault of its compression is a FileError."""
    if not form.compression:
        yield raw
        return
    broken: tuple[type[Exception], ...]
    opened: Any
    if form.compression == "gz":
        opened = gzip.GzipFile(fileobj=raw)
        broken = (EOFError, gzip.BadGzipFile, zlib.error)
    elif form.compression == "bz2":
        opened = io.BufferedReader(_Frames(raw, bz2.BZ2Decompressor))
        # What is no bz2 is an OSError without a number.
        broken = (EOFError, OSError)
    elif form.compression == "xz":
        opened = io.BufferedReader(_Frames(raw, lzma.LZMADecompressor))
        broken = (EOFError, lzma.LZMAError)
    else:
        zstandard = _zstandard()
        opened = io.BufferedReader(
            _Frames(raw, lambda: zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj())
        )
        broken = (EOFError, zstandard.ZstdError)
    try:
        yield opened
    except broken as error:
        raise FileError(f"{name}: {error}") from error


def compressed(file: IO[bytes], form: Form) -> IO[bytes]:
    """What is to be written to a file, compressed; to close it ends the compression, and does not close the file."""
    if form.compression == "gz":
        # Without a name and a time, so that the same rows are the same bytes.
        return cast("IO[bytes]", gzip.GzipFile("", "wb", 6, file, 0))
    if form.compression == "zst":
        opened: IO[bytes] = _zstandard().ZstdCompressor().stream_writer(file, closefd=False)
        return opened
    if form.compression in ("bz2", "xz"):
        return cast("IO[bytes]", bz2.BZ2File(file, "wb") if form.compression == "bz2" else lzma.LZMAFile(file, "wb"))
    return cast("IO[bytes]", _Open(file))


class _Open(io.RawIOBase):
    """A file that stays open when what is written to it is closed."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def writable(self) -> bool:
        """It is written."""
        return True

    def write(self, data: Any) -> int:
        """Appends bytes."""
        return self._file.write(data)


class _Frames(io.RawIOBase):
    """What frames contain, one behind the other, of whatever compression.

    A frame that is cut off, or damaged at its beginning, is an error, which the readers of bz2, lzma and zstandard pass
    over as if it were not there.
    """

    READ = 4096
    """Bytes that are read at a time: of so few come at most 128 MB, whoever wrote them."""

    def __init__(self, raw: IO[bytes], frame: Callable[[], Any]) -> None:
        self._raw = raw
        self._new = frame
        self._frame: Any = None
        self._read = self._out = b""
        self._at = 0

    def readable(self) -> bool:
        """It is read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fills a buffer, or the beginning of it; 0 at the end."""
        while self._at == len(self._out):
            self._read = self._read or self._raw.read(self.READ)
            if not self._read:
                if self._frame is not None:
                    raise EOFError("Compressed file ended before the end of its last frame was reached")
                return 0
            if self._frame is None:
                # Zeros are between frames of xz, and behind those of tapes.
                self._read = self._read.lstrip(b"\0")
                if not self._read:
                    continue
                self._frame = self._new()
            self._out, self._at = self._frame.decompress(self._read), 0
            self._read = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame = None
        some = self._out[self._at : self._at + len(buffer)]
        buffer[: len(some)] = some
        self._at += len(some)
        return len(some)
