"""A bar that shows nothing and remembers what it was told."""


class Silent:
    def __init__(self) -> None:
        self.n: float = 0
        self.total: float | None = 100
        self.description = ""
        self.postfix = ""
        self.seen: list[tuple[str, float]] = []
        self.closed = False

    def set_description_str(self, desc: str | None = None, refresh: bool | None = True) -> None:  # noqa: ARG002
        self.description = desc or ""

    def set_postfix_str(self, s: str = "", refresh: bool = True) -> None:  # noqa: ARG002
        self.postfix = s

    def refresh(self) -> None:
        self.seen.append((self.description, self.n))

    def close(self) -> None:
        self.closed = True
