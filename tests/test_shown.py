"""Nothing that a student wrote runs in the instructor's formgrader."""

from html.parser import HTMLParser

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbgrader.server_extensions.formgrader import handlers
from traitlets.config import Config

from autograder.preprocessors import configure_autograde
from autograder.shown import ATTRIBUTES, TAGS, safe_markdown

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)></svg>",
    "[here](javascript:alert(1))",
    "<javascript:alert(1)>",
    "```mermaid\n</pre><script>alert(1)</script>\n```",
    "<input class='score' value=9>",
    "# <b onclick=alert(1)>title",
]


class Live(HTMLParser):
    """Collects tags, attributes and addresses that formgrader may run."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        """Note what is on no list."""
        allowed = ATTRIBUTES.get(tag, ())
        self.found += [] if tag in TAGS else [tag]
        self.found += [name for name, _ in attributes if name not in allowed]
        self.found += [v for _, v in attributes if "script:" in (v or "")]


def formgrader_shows(text, config=None):
    """Return what formgrader's page holds for a cell of this text."""
    config = configure_autograde(Config()) if config is None else config
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    cell = nbformat.v4.new_markdown_cell(text)
    page, _ = HTMLExporter(config=config).from_notebook_node(
        nbformat.v4.new_notebook(cells=[cell]), {"index": 0, "total": 1}
    )
    shown = page.split('rendered_html">')[-1]
    return shown.split("</main>")[0]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_could_run_becomes_text(text):
    assert Live(formgrader_shows(text)).found == []


@pytest.mark.parametrize("text", HOSTILE)
def test_without_the_filter_it_would_run(text):
    assert Live(formgrader_shows(text, Config())).found != []


def test_a_formula_cannot_hold_a_link():
    assert "href" not in safe_markdown(r"$\href{javascript:alert(1)}{x}$")


def test_text_formulas_and_hints_stay():
    text = "**b** $a<b$\n\n<details><summary>Hint</summary>\n\n*i*\n</details>"
    page = safe_markdown(text)
    for part in ("<strong>b", "$a&lt;b$", "<summary>Hint", "<em>i", "</det"):
        assert part in page
