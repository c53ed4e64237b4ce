"""The report opens from disk in a browser: every figure has a size, nothing overflows, no script runs."""

import json
import re
from html import unescape
from io import BytesIO

import pytest

from mas_orchestra.evaluate.report import write_report
from support.chromium import Chromium, find_chromium
from support.results import AXES, study

BINARY = find_chromium()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        BINARY is None,
        reason="NO BROWSER: reports are NOT checked in one here; install Debian's package `chromium` to check them",
    ),
]

PROBE = """
<script>
const box = element => { const b = element.getBoundingClientRect(); return [b.width, b.height]; };
const seen = {
  drawings: [...document.querySelectorAll(".drawing svg")].map(box),
  shapes: [...document.querySelectorAll("figure svg")].map(svg => svg.querySelectorAll("path").length),
  ids: [...document.querySelectorAll("[id]")].map(element => element.id),
  missing: [...document.querySelectorAll("use")].map(use => use.getAttribute("xlink:href") || use.getAttribute("href"))
    .filter(target => !document.getElementById(target.slice(1))),
  page: [document.documentElement.scrollWidth, innerWidth],
};
document.body.setAttribute("data-seen", JSON.stringify(seen));
</script></body>
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return write_report([study(per_value=4, k=2)], tmp_path_factory.mktemp("report"))


@pytest.fixture
def browser(tmp_path):
    return Chromium(str(BINARY), tmp_path)


def test_every_figure_is_drawn(report, browser, tmp_path) -> None:
    probed = tmp_path / "probed.html"
    text = report.read_text("utf-8")
    policy = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
    assert policy.search(text)
    probed.write_text(policy.sub("", text).replace("</body>", PROBE), "utf-8")

    match = re.search(r'data-seen="([^"]*)"', browser.content(probed))
    assert match
    seen = json.loads(unescape(match[1]))

    assert len(seen["shapes"]) == 5
    assert all(paths > 20 for paths in seen["shapes"])
    assert len(seen["drawings"]) > 5, "figures and plans"
    assert all(width > 150 and height > 80 for width, height in seen["drawings"])
    assert len(seen["ids"]) == len(set(seen["ids"])), "figures must not share ids"
    assert not seen["missing"]
    assert seen["page"][0] <= seen["page"][1], "the page itself never scrolls sideways"


def test_the_policy_lets_no_script_run(report, browser, tmp_path) -> None:
    planted = tmp_path / "planted.html"
    planted.write_text(report.read_text("utf-8").replace("</body>", PROBE), "utf-8")

    assert "data-seen=" not in browser.content(planted).replace(PROBE, "")


@pytest.mark.parametrize("is_dark", [False, True])
def test_the_first_screen_is_a_picture_in_the_reader_s_colours(report, browser, tmp_path, is_dark) -> None:
    from matplotlib.image import imread

    picture = browser.screenshot(report, tmp_path / "first.png", width=1280, height=900, is_dark=is_dark)
    pixels = imread(BytesIO(picture), format="png")[:, :, :3]

    assert pixels.shape[:2] == (900, 1280)
    assert bool(pixels[5, 5].mean() < 0.3) is is_dark, "the ground"
    assert pixels.std() > 0.05, "something is written on it"
    assert len(AXES) == 3
