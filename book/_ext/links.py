"""Every link inside the built site leads to a page and an anchor.

Links to other hosts are left to their hosts: a build needs no network.
Run after `make book`: python -m book._ext.links
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

SITE = Path(__file__).resolve().parents[2] / "_build/html"


class Anchors(HTMLParser):
    """The addresses that a page names and the ids that it offers."""

    def __init__(self, html: str):
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag, attrs) -> None:
        """Collect from one tag."""
        found = dict(attrs)
        self.ids.add(found.get("id") or found.get("name") or "")
        link = found.get("href") if tag in ("a", "link") else found.get("src")
        if link:
            self.links.append(link)


def dead_links(site: Path) -> list[str]:
    """One line for every link without a target."""
    pages = {
        path: Anchors(path.read_text("utf-8"))
        for path in site.rglob("*.html")
        if "_static" not in path.parts  # the theme's templates
    }
    lines = []
    for path, page in sorted(pages.items()):
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve()
            target = target if parts.path else path
            known = pages[target].ids if target in pages else {parts.fragment}
            if not target.exists() or parts.fragment not in {"", *known}:
                lines.append(f"{path.relative_to(site)}: {link} leads nowhere")
    return lines


def main() -> int:
    """Print the dead links; fail if there is one, or no site."""
    if not (SITE / "index.html").is_file():
        print("there is no site in _build/html; run make book",
              file=sys.stderr)
        return 1
    lines = dead_links(SITE)
    print("\n".join(lines) or "every link of the site leads somewhere")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
