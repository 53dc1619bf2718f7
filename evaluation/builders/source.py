"""Files of clones of repositories, at a commit."""
import io
import subprocess


class Source:
    """A commit of a repository: its files, without a work tree."""

    def __init__(self, clones, name, commit):
        self.folder, self.commit = clones / name, commit
        if not self.folder.is_dir():
            raise SystemExit(f"{self.folder}: no clone of {name}")

    def git(self, *arguments, given=None):
        command = ["git", "-C", self.folder, "-c", "core.quotepath=off", *arguments]
        return subprocess.run(command, input=given, capture_output=True, check=True).stdout

    def files(self, under="", ending=""):
        """The paths below a folder, in order, with what is in each."""
        names = self.git("ls-tree", "-r", "--name-only", self.commit, *filter(None, [under])).decode().splitlines()
        names = [name for name in names if name.endswith(ending)]
        asked = "".join(f"{self.commit}:{name}\n" for name in names).encode()
        out = io.BytesIO(self.git("cat-file", "--batch", given=asked))
        for name in names:
            size = int(out.readline().split()[2])
            yield name, out.read(size)
            out.read(1)

    def file(self, name):
        return self.git("show", f"{self.commit}:{name}")


def text_of(content):
    """UTF-8, or what is older."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")
