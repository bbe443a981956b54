"""Where a command writes: its usual file, or one that was asked for."""

from pathlib import Path

from mha_course.record import write_private


def save(text: str, usual: Path, asked: Path | None, again: bool) -> str:
    """Write a text so that only its owner can read it; return what to tell of it.

    The usual file is ours and is made anew each time. A file that was asked for by name may be
    anybody's.

    Args:
        text: What to write.
        usual: Where it goes by default.
        asked: Where the user wants it instead.
        again: `asked` may be there already.

    Raises:
        ValueError: `asked` is there already, or its folder is not.
    """
    path = asked or usual
    if path.is_dir():
        raise ValueError(f"--out must name a file, and {path} is a folder")
    if not path.parent.is_dir():
        raise ValueError(f"--out: there is no folder {path.parent}")
    old = path.exists()
    if old and asked is not None and not again:
        raise ValueError(f"{path} is there already; --again writes over it")
    write_private(path, text)
    return f"{path}{' (in place of the older one)' if old else ''}"
