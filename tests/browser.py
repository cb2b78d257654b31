"""A real browser for pages that people open, and what it would load from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from programs import program

_OFFLINE = ("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run")
Opened = tuple[Page, list[str]]


@contextmanager
def started() -> Iterator[Browser]:
    """Chromium, for several pages."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program("chromium"), args=["--no-sandbox", "--disable-gpu", *_OFFLINE]
        )
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def visited(
    browser: Browser, path: Path, *, width: int = 900, height: int = 700, offline: bool = True, first: str = ""
) -> Iterator[Opened]:
    """A page of a file as a new visitor, and what it asked for and the errors that it wrote; `first` runs before it."""
    context = browser.new_context(offline=offline, viewport={"width": width, "height": height})
    try:
        page = context.new_page()
        if first:
            page.add_init_script(first)
        amiss: list[str] = []
        page.on("request", lambda asked: None if asked.url == path.as_uri() else amiss.append(asked.url))
        page.on("console", lambda said: amiss.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: amiss.append(str(error)))
        page.goto(path.as_uri())
        yield page, amiss
    finally:
        context.close()


@contextmanager
def opened(path: Path, *, width: int = 900, height: int = 700) -> Iterator[Opened]:
    """A page of a file in Chromium, and the addresses that it asked for and the errors that it wrote, as they come."""
    with started() as browser, visited(browser, path, width=width, height=height) as found:
        yield found
