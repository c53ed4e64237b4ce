"""Downloads a dataset's files from the hub once, and says what to do where there is no network."""

import http.client
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import orjson

from mas_orchestra.errors import FileFormatError, UnreachableError, UsageError

__all__ = ["ENDPOINT_VARIABLE", "TOKEN_VARIABLE", "fetch"]

ENDPOINT_VARIABLE = "HF_ENDPOINT"
"""Environment variable with the hub's address, for mirrors."""
TOKEN_VARIABLE = "HF_TOKEN"  # noqa: S105  (the name of a variable, not a secret)
"""Environment variable with the access token of a closed dataset."""

_HUB = "https://huggingface.co"
_TIMEOUT_S = 60
_PIECE = 1 << 20
_NEXT = re.compile(r'<([^>]+)>; rel="next"')


class _Remote(NamedTuple):
    path: str
    size: int


def _is_rows(path: str) -> bool:
    return path.endswith((".parquet", ".jsonl"))


def fetch(dataset: str, cache: Path | None = None, *, is_wanted: Callable[[str], bool] = _is_rows) -> Path:
    """A folder with the files of ``owner/name`` that are wanted; what is already there is not downloaded again.

    Raises:
        UnreachableError: No network, or the hub refuses.
        FileFormatError: The hub answers with something else than a list of files, or the disk refuses.
        UsageError: The dataset has no rows that can be read here, or the address is not one of the web.
    """
    endpoint = os.environ.get(ENDPOINT_VARIABLE, _HUB).rstrip("/")
    if not endpoint.startswith(("http://", "https://")):
        raise UsageError(f"{ENDPOINT_VARIABLE}={endpoint!r} must begin with https:// (or http:// for a local mirror)")
    folder = (cache or _cache()) / dataset.replace("/", "--")
    try:
        for remote in _list(endpoint, dataset, is_wanted):
            _download(f"{endpoint}/datasets/{dataset}/resolve/main/{urllib.parse.quote(remote.path)}", folder, remote)
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
        raise UnreachableError(_advice(endpoint, dataset, error), endpoint=endpoint) from error
    except OSError as error:
        raise FileFormatError(f"cannot keep {dataset} in {folder}: {error}. Free the place, then try again.") from error
    return folder


def _advice(endpoint: str, dataset: str, error: Exception) -> str:
    return (
        f"cannot get the dataset {dataset} from {endpoint} ({error}), and there is no such path here. "
        f"Without a network: where there is one, download the .parquet files of {endpoint}/datasets/{dataset}, put "
        "them as DIR/AXIS/train.parquet and DIR/AXIS/test.parquet (AXIS: depth, breadth, …), and give DIR instead."
    )


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "mas-orchestra" / "hub"


def _open(url: str) -> http.client.HTTPResponse:
    request = urllib.request.Request(url)  # noqa: S310  (the scheme was checked in `fetch`)
    if token := os.environ.get(TOKEN_VARIABLE):
        # Not sent on when the hub redirects to its storage.
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=_TIMEOUT_S)  # noqa: S310  (as above)
    return response


def _list(endpoint: str, dataset: str, is_wanted: Callable[[str], bool]) -> list[_Remote]:
    url: str | None = f"{endpoint}/api/datasets/{dataset}/tree/main?recursive=true"
    found: list[_Remote] = []
    while url:
        with _open(url) as response:
            following = _NEXT.search(response.headers.get("Link", ""))
            found += [entry for entry in _entries(response.read(), url) if is_wanted(entry.path)]
        # A page elsewhere would get the token.
        url = following[1] if following and following[1].startswith(endpoint + "/") else None
    if not found:
        raise UsageError(f"the dataset {dataset} has no file of the kind that is read here: nothing to load")
    return found


def _entries(body: bytes, url: str) -> list[_Remote]:
    try:
        return [_Remote(entry["path"], entry["size"]) for entry in orjson.loads(body) if entry["type"] == "file"]
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise FileFormatError(f"{url} did not answer with a list of files ({type(error).__name__}: {error})") from error


def _download(url: str, folder: Path, remote: _Remote) -> None:
    relative = PurePosixPath(remote.path)
    if relative.is_absolute() or ".." in relative.parts or "\\" in remote.path:
        raise FileFormatError(f"the hub names a file outside its dataset: {remote.path!r}; not downloaded")
    target = folder / relative
    if target.is_file() and target.stat().st_size == remote.size:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    with _open(url) as response, unfinished.open("wb") as file:
        while piece := response.read(_PIECE):
            file.write(piece)
    if unfinished.stat().st_size != remote.size:
        unfinished.unlink()
        raise ConnectionError(f"{remote.path} ended early")
    unfinished.replace(target)
