"""The built site in a real browser that can reach nothing but localhost."""

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
SITE = ROOT / "_build/html"
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost",
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
]  # fmt: skip
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
PAGES = [
    TOC["root"],
    *(c["file"] for part in TOC["parts"] for c in part["chapters"]),
]
pytestmark = pytest.mark.slow


def without_browser(reason: str):
    """Skip on a private machine; in CI a missing browser is a failure."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def site():
    """Build strictly, serve on localhost, and give the address."""
    done = subprocess.run(
        ["make", "book"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    handler = functools.partial(QuietHandler, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}"
        server.shutdown()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serve the files and keep the test's output clean."""

    def log_message(self, *args):
        """Say nothing."""


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium of this machine, found by its usual names."""
    found = [path for path in map(shutil.which, NAMES) if path]
    if not found:
        without_browser(
            f"no browser: none of {', '.join(NAMES)} is on the PATH; "
            "on Debian or Ubuntu: apt-get install chromium"
        )
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=found[0], args=FLAGS)
        yield chromium
        chromium.close()


class Visit:
    """One page in one window, with all it asked for and complained of."""

    def __init__(self, browser, url, width=1280, scheme="light", **context):
        self.context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme, **context,
        )
        self.page = self.context.new_page()
        self.requests, self.complaints = [], []
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.page.on("console", self.on_console)
        self.page.on("pageerror", lambda e: self.complaints.append(str(e)))
        self.page.goto(url, wait_until="load")
        self.page.wait_for_function(
            "!window.MathJax || (MathJax.startup && MathJax.startup.promise"
            " && MathJax.startup.promise.then(() => true))"
        )

    def on_console(self, message):
        """Keep errors and warnings; what is merely logged may pass."""
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def foreign(self, home):
        """Requests to anything but the site itself."""
        return [
            url for url in self.requests
            if not url.startswith((home, "data:", "blob:"))
        ]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.context.close()


def url_of(site, page):
    return f"{site}/{page}.html"


# The typeset text of an article, without code, where a dollar may stand.
PROSE = """() => {
    const copy = document.querySelector('article').cloneNode(true);
    copy.querySelectorAll('pre, code, script, style, svg, mjx-container')
        .forEach(e => e.remove());
    return copy.textContent;
}"""
RAW_MATH = re.compile(r"\\\(|\\\)|\\\[|\\\]|\$\$|\\begin\{|\\frac|\\partial")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_clean_typeset_and_alone(site, browser, page):
    with Visit(browser, url_of(site, page)) as visit:
        math = visit.page.locator(".math").count()
        drawn = visit.page.locator("article mjx-container").count()
        wrong = visit.page.locator("mjx-merror, .MathJax_Error").count()
        prose = visit.page.evaluate(PROSE)
        assert visit.complaints == []
        assert visit.foreign(site) == []
        assert drawn >= math and wrong == 0
        assert RAW_MATH.findall(prose) == []
        assert "{" not in re.sub(r"\{[^{}`]*\}", "", prose)
        assert "SystemMessage" not in visit.page.content()


@pytest.mark.parametrize("page", PAGES)
def test_a_page_reads_from_a_file(site, browser, page):
    home = SITE.as_uri()
    with Visit(browser, f"{home}/{page}.html") as visit:
        math = visit.page.locator(".math").count()
        assert visit.page.locator("article mjx-container").count() >= math
        assert visit.foreign(home) == []
        for image in visit.page.locator("article img").all():
            image.scroll_into_view_if_needed()
            assert image.evaluate("i => i.decode().then(() => true)")


def test_navigation_from_a_file_reaches_every_page(site, browser):
    with Visit(browser, f"{SITE.as_uri()}/index.html") as visit:
        visit.page.wait_for_url(f"**/{TOC['root']}.html")
        for page in PAGES[1:]:
            visit.page.locator("a.right-next").click()
            visit.page.wait_for_url(f"**/{page}.html")


OVERFLOW = """() => {
    const wide = document.documentElement.scrollWidth;
    return wide - document.documentElement.clientWidth;
}"""


@pytest.mark.parametrize("page", PAGES)
def test_a_phone_never_scrolls_the_page_sideways(site, browser, page):
    with Visit(browser, url_of(site, page), width=390) as visit:
        assert visit.page.evaluate(OVERFLOW) <= 0
        title = visit.page.locator("article h1").first.bounding_box()
        assert 0 <= title["x"] and title["x"] + title["width"] <= 390


# WCAG contrast of each text leaf against the nearest painted background.
CONTRAST = """() => {
    const rgb = s => (s.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
    const lum = c => c.slice(0, 3).map(v => v / 255).map(v =>
        v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4
    ).reduce((t, v, i) => t + v * [0.2126, 0.7152, 0.0722][i], 0);
    const back = e => {
        for (; e; e = e.parentElement) {
            const c = rgb(getComputedStyle(e).backgroundColor);
            if (c.length < 4 || c[3] > 0.5) return c;
        }
        return [255, 255, 255];
    };
    const leaves = [...document.querySelectorAll('article *')].filter(e =>
        e.offsetParent && !e.closest('svg, mjx-assistive-mml, .headerlink')
        && !e.closest('button')
        && [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim()));
    return leaves.map(e => {
        const a = lum(rgb(getComputedStyle(e).color)), b = lum(back(e));
        const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        return [ratio, e.tagName + ' ' + e.className + ': '
                + e.textContent.slice(0, 40)];
    }).filter(([ratio]) => ratio < 4.5);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_text_stands_out_from_its_background(site, browser, page, scheme):
    with Visit(browser, url_of(site, page), scheme=scheme) as visit:
        theme = visit.page.evaluate("document.documentElement.dataset.theme")
        assert theme == scheme
        assert visit.page.evaluate(CONTRAST) == []


def test_the_measurements_see_a_fault(site, browser):
    """A wide, pale text with raw math and a foreign picture is noticed."""
    with Visit(browser, url_of(site, PAGES[1]), width=390) as visit:
        visit.page.evaluate("""() => {
            const p = document.createElement('p');
            p.style = 'width: 600px; color: #ccc; background: #fff';
            p.textContent = 'left over: $$x$$';
            document.querySelector('article').append(p);
            const i = new Image();
            i.src = 'https://example.org/a.png';
            document.body.append(i);
        }""")
        visit.page.wait_for_timeout(200)
        assert visit.page.evaluate(OVERFLOW) > 0
        assert len(visit.page.evaluate(CONTRAST)) == 1
        assert RAW_MATH.findall(visit.page.evaluate(PROSE)) == ["$$", "$$"]
        assert visit.foreign(site) == ["https://example.org/a.png"]
        assert any("ERR_NAME_NOT_RESOLVED" in x for x in visit.complaints)


def test_without_a_browser_only_ci_fails(monkeypatch):
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception):
        without_browser("none")
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception):
        without_browser("none")


def test_search_finds_rope(site, browser):
    with Visit(browser, f"{site}/search.html?q=RoPE") as visit:
        first = visit.page.locator("#search-results li a").first
        first.wait_for()
        found = visit.page.locator("#search-results li a").all()
        pages = {link.get_attribute("href").split("?")[0] for link in found}
        assert any(p.startswith("book/symbols/rope.html") for p in pages)
        assert visit.foreign(site) == []


def code_pages():
    """Pages that show at least one code cell."""
    return [
        page for page in PAGES
        if "{code-cell}" in (ROOT / f"{page}.md").read_text("utf-8")
    ]


@pytest.mark.parametrize("page", code_pages()[:1])
def test_the_copied_code_of_a_page_runs(site, browser, page, tmp_path):
    rights = ["clipboard-read", "clipboard-write"]
    with Visit(browser, url_of(site, page), permissions=rights) as visit:
        cells = visit.page.locator("div.cell_input").all()
        copied = []
        for cell in cells:
            if not cell.is_visible():
                continue
            cell.hover()
            cell.locator("button.copybtn").click()
            copied.append(
                visit.page.evaluate("navigator.clipboard.readText()")
            )
    assert copied and all(copied)
    script = tmp_path / "copied.py"
    script.write_text("\n".join(copied), "utf-8")
    done = subprocess.run(
        [sys.executable, script], cwd=ROOT / Path(page).parent,
        capture_output=True, text=True, timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def colab_links(page):
    """Every address at Colab that the built page names."""
    html = (SITE / f"{page}.html").read_text("utf-8")
    return re.findall(r"https://colab\.research\.google\.com[^\"'<>\s]*", html)


@pytest.mark.parametrize("page", PAGES)
def test_every_colab_link_opens_a_notebook_that_exists(site, page):
    slug = CONFIG["repository"]["url"].removeprefix("https://github.com/")
    branch = CONFIG["repository"]["branch"]
    home = f"https://colab.research.google.com/github/{slug}/blob/{branch}/"
    links = colab_links(page)
    if page in code_pages():
        assert links, f"{page} has cells but no Colab button"
    for link in links:
        assert link.startswith(home + "notebooks/")
        notebook = json.loads((ROOT / link.removeprefix(home)).read_text())
        assert notebook["nbformat"] == 4


def test_how_to_use_opens_every_assignment_in_colab(site):
    links = colab_links("book/how-to-use")
    assignments = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "notebooks").glob("*/*.ipynb")
        if path.parent.name != "chapters"
    }
    opened = {link[link.index("notebooks/"):] for link in links}
    sources = len(list((ROOT / "solutions").glob("*/*.py")))
    assert len(assignments) == sources > 0
    assert assignments <= opened


@pytest.mark.parametrize("page", code_pages())
def test_numbers_on_the_site_are_the_notebooks(site, page):
    html = (SITE / f"{page}.html").read_text("utf-8")
    inner = page.removeprefix("book/")
    path = ROOT / "notebooks/chapters" / f"{inner}.ipynb"
    cells = json.loads(path.read_text("utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells)
    figures = re.findall(r'class="caption-number">(Fig\. [\d.]+)', html)
    numbers = [number.strip(" .") for number in figures]
    assert numbers == re.findall(r"^\*\*(Fig\. [\d.]+)\*\*", text, re.M)
    equations = re.findall(r'class="eqno">\(([\d.]+)\)', html)
    assert equations == re.findall(r"\\tag\{([\d.]+)\}", text)


def test_the_built_site_loads_nothing_from_another_host(site):
    loads = re.compile(
        r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"'](https?:)?//"
        r"|<link\b[^>]*rel=[\"'](?:stylesheet|preload|preconnect)[\"']"
        r"[^>]*href=[\"'](https?:)?//"
    )
    pages = list(SITE.rglob("*.html"))
    assert len(pages) > len(PAGES)
    for page in pages:
        html = page.read_text("utf-8")
        assert loads.search(html) is None, page
        assert "unpkg.com" not in html and "jsdelivr" not in html, page
