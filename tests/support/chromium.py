"""The browser that some tests open pages in: headless, in a profile of its own, with nothing in the background."""

import shutil
import subprocess
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


def find_chromium() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Chromium:
    """Opens one page a call."""

    def __init__(self, binary: str, folder: Path) -> None:
        self._binary = binary
        self._folder = folder

    def screenshot(self, page: Path, picture: Path, *, width: int, height: int, is_dark: bool = False) -> bytes:
        dark = ("--force-dark-mode", "--blink-settings=preferredColorScheme=0") if is_dark else ()
        self._open(page, f"--screenshot={picture}", f"--window-size={width},{height}", *dark)
        return picture.read_bytes()

    def content(self, page: Path) -> str:
        """The page's elements after its scripts ran."""
        return self._open(page, "--dump-dom")

    def _open(self, page: Path, *options: str) -> str:
        profile = self._folder / "profile"
        shutil.rmtree(profile, ignore_errors=True)
        command = [self._binary, *FLAGS, f"--user-data-dir={profile}", *options, page.as_uri()]
        return subprocess.run(command, capture_output=True, text=True, timeout=90, check=True).stdout
