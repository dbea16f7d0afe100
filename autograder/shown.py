r"""What formgrader shows of markdown: nothing that runs.

formgrader puts a notebook's markdown into its page as it stands, and that
page may set scores and read every submission. A `<script>` in an answer in
words would do so in the instructor's name.
"""

import re

import bleach
from nbconvert.filters import markdown2html

TAGS = frozenset(
    "a abbr b blockquote br code del details div em h1 h2 h3 h4 h5 h6 hr i "
    "img li ol p pre s span strong sub summary sup table tbody td th thead "
    "tr ul".split()
)
ATTRIBUTES = {"a": ["href", "title"], "img": ["alt", "src", "title"]}
# MathJax's commands that reach beyond the formula they stand in
REACHING = re.compile(r"\\(?:href|require|cssId|class|style|unicode)\b")


def safe_markdown(source):
    """Return the HTML of markdown; what could run becomes text."""
    page = markdown2html(REACHING.sub(r"\\text", source))
    return bleach.clean(page, TAGS, ATTRIBUTES, ("http", "https", "mailto"))
