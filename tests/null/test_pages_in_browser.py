# SPDX-License-Identifier: Apache-2.0
"""Pages as a browser has them: what a screen reader is told, keys, narrow windows."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from aclgrad.reporting import history, html
from test_findings_page import RACE, page_of
from test_picture import outcomes
from test_report import HERE, mixed

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
NARROW, WIDE = 400, 1400
NAMED = {"button", "link", "image", "img", "textbox", "checkbox", "combobox", "table-cell"}


class Browser:
    """Chromium, spoken to by a pair of pipes."""

    def __init__(self) -> None:
        there, self._to = os.pipe()
        self._from, back = os.pipe()
        self._rest = b""
        self._number = 0
        assert CHROMIUM is not None
        # Its descriptors 3 and 4, wherever ours are.
        script = f'exec 3<&{there} 4>&{back}; exec "$0" "$@"'
        words = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        # It does not start with a sanitizer in it.
        env = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
        self._process = subprocess.Popen(
            ["bash", "-c", script, CHROMIUM, *words],
            pass_fds=(there, back),
            env=env,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(there)
        os.close(back)
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = ""
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        self._call("Accessibility.enable")
        self._call("Page.enable")

    def _call(self, method: str, **params: Any) -> Any:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if getattr(self, "_session", ""):
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "result" in answer, answer
                return answer["result"]

    def _next(self) -> Any:
        while b"\0" not in self._rest:
            read = os.read(self._from, 1 << 20)
            assert read, "chromium has ended"
            self._rest += read
        one, _, self._rest = self._rest.partition(b"\0")
        return json.loads(one)

    def show(self, page: Path, width: int) -> None:
        """Load a page into a window of this width."""
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", **metrics)
        self._call("Page.navigate", url=page.as_uri())
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def tell(self, script: str) -> Any:
        """What JavaScript says."""
        return self._call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get(
            "value"
        )

    def press(self, key: str) -> None:
        """A key, down and up."""
        code = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowDown": 40, ".": 190}[key]
        more = {"key": key, "windowsVirtualKeyCode": code, "text": "\r" if key == "Enter" else ""}
        self._call("Input.dispatchKeyEvent", type="keyDown", **more)
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def tree(self) -> list[dict[str, Any]]:
        """What a screen reader is given: role, name and whether keys reach it."""
        found = []
        for node in self._call("Accessibility.getFullAXTree")["nodes"]:
            if node.get("ignored"):
                continue
            properties = {each["name"]: each["value"] for each in node.get("properties", [])}
            found.append(
                {
                    "role": node["role"].get("value"),
                    "name": str(node.get("name", {}).get("value", "")).strip(),
                    "focusable": bool(properties.get("focusable", {}).get("value")),
                }
            )
        return found

    def close(self) -> None:
        """End it and what it started."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._to)
        os.close(self._from)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    made = Browser()
    yield made
    made.close()


# Texts of a plot that cover one another or are cut off by its edge.
CLASHES = """
[...document.querySelectorAll('svg.plot')].flatMap(plot => {
  const edge = plot.getBoundingClientRect();
  const texts = [...plot.querySelectorAll('text')]
    .map(text => [text.textContent, text.getBoundingClientRect()]);
  const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  const out = box => box.left < edge.left - 1 || box.right > edge.right + 1
    || box.top < edge.top - 3 || box.bottom > edge.bottom + 3;
  return texts.flatMap(([text, box], at) => [
    ...(out(box) ? [`${text} is cut off`] : []),
    ...texts.slice(at + 1).filter(([, other]) => over(box, other))
      .map(([other]) => `${text} covers ${other}`)]);
})
"""


def nameless(tree: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a person meets with keys or as a picture, and is not told of."""
    return [
        node
        for node in tree
        if not node["name"]
        and (node["role"] in NAMED or (node["focusable"] and node["role"] != "RootWebArea"))
    ]


def precision() -> str:
    """A page with failures, and runs before it of which some failed."""
    run = history.summary(mixed(), HERE)
    runs = [run | {"failed": at % 4, "cases": 9} for at in range(30)]
    return html.page([*mixed(), *outcomes(30)], HERE, runs)


PAGES: dict[str, Callable[[], str]] = {
    "findings": lambda: page_of(RACE, RACE | {"kind": "gm-conflict"}),
    "precision": precision,
}


@pytest.mark.parametrize("name", PAGES)
def test_everything_has_a_name_and_fits(name: str, browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(PAGES[name]())
    for width in (WIDE, NARROW):
        browser.show(page, width)
        browser.tell("for (const each of document.querySelectorAll('details')) each.open = true")
        assert not nameless(browser.tree())
        assert browser.tell(CLASHES) == []
        assert browser.tell("document.documentElement.scrollWidth") <= width


def test_a_nameless_button_is_seen(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<button></button><pre tabindex=0>x</pre><img src='data:,'><p>text</p>")
    browser.show(page, WIDE)
    assert len(nameless(browser.tree())) == 3


def test_labels_that_meet_are_seen(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(PAGES["precision"]().replace("font-size: 14px", "font-size: 30px"))
    browser.show(page, WIDE)
    said = " ".join(browser.tell(CLASHES))
    assert "covers" in said and "is cut off" in said


def test_tables_are_sorted_by_keys(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(PAGES["precision"]())
    browser.show(page, WIDE)
    browser.tell("for (const each of document.querySelectorAll('details')) each.open = true")
    first = "document.querySelector('table.cases th.n')"
    browser.tell(f"{first}.querySelector('button').focus()")
    for order in ("descending", "ascending"):
        browser.press("Enter")
        assert browser.tell(f"{first}.getAttribute('aria-sort')") == order
