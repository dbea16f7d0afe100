"""What the site needs beyond Jupyter Book: notebooks' addresses, no thebe,
no moving bars, a table of run times, no half-built page taken for whole.
"""

import os
import shutil
from pathlib import Path

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.util import logging
from sphinx.util.docutils import ReferenceRole

PAGE_SECONDS, TOTAL_SECONDS = 25, 240
log = logging.getLogger(__name__)


def notebook_of(docname: str) -> Path:
    """The released notebook of a page, relative to the root."""
    inner = docname.removeprefix("book/")
    return Path("notebooks/chapters", inner).with_suffix(".ipynb")


def colab_url(theme: dict, notebook: Path) -> str:
    """Colab's address for a notebook of the repository in _config.yml."""
    slug = theme["repository_url"].removeprefix("https://github.com/")
    return "/".join([
        theme["launch_buttons"]["colab_url"], "github", slug.strip("/"),
        "blob", theme["repository_branch"], notebook.as_posix(),
    ])


def point_to_notebook(app, pagename, template, context, doctree) -> None:
    """Lead the Colab button of a page with cells to its released notebook.

    The theme links a MyST page's own .md, which Colab cannot open.
    """
    theme = app.config.html_theme_options
    for group in context.get("header_buttons", []):
        if group.get("label") == "launch-buttons":
            (button,) = group["buttons"]
            button["url"] = colab_url(theme, notebook_of(pagename))


class Colab(ReferenceRole):
    """{colab}`words <symbols/beginner>`: a notebook's address at Colab."""

    def run(self):
        """Return a link whose address is filled in when a page is written.

        So a change of the repository reaches pages that were read before.
        """
        notebook = f"notebooks/{self.target}.ipynb"
        link = nodes.reference(self.rawtext, self.title, colab=notebook)
        self.set_source_info(link)
        return [link], []


def fill_colab_links(app, doctree, docname) -> None:
    """Give each link of the role its address; warn where nothing lies."""
    theme = app.config.html_theme_options
    for link in doctree.findall(nodes.reference):
        if "colab" in link:
            notebook = Path(link["colab"])
            link["refuri"] = colab_url(theme, notebook)
            if not Path(app.srcdir, notebook).is_file():
                log.warning("there is no %s", notebook, location=link)


def copy_what_no_page_tells(app) -> None:
    """Copy style and notebooks, which Sphinx skips when no page changed."""
    root, site = Path(app.srcdir), Path(app.outdir)
    style = root / "book/_static"
    shutil.copytree(style, site / "_static", dirs_exist_ok=True)
    for name in runs(app.env):
        notebook = root / notebook_of(name)
        if notebook.is_file():
            shutil.copyfile(notebook, site / f"_sources/{name}.ipynb")
        else:
            log.warning("%s has no notebook yet; run make notebooks", name)


def switch_thebe_off(app) -> None:
    """Drop thebe's hooks: even unused they name a foreign host."""
    for listeners in app.events.listeners.values():
        listeners[:] = [
            x for x in listeners
            if not x.handler.__module__.startswith("sphinx_thebe")
        ]


def runs(env) -> dict[str, dict]:
    """How the kernel fared on each page, now or when its run was cached."""
    found = {
        name: NbMetadataCollector.get_exec_data(env, name)
        for name in sorted(env.found_docs)
    }
    return {name: run for name, run in found.items() if run}


def print_runs(app) -> None:
    """Print the seconds of each page, and what failed or is over a limit."""
    found = runs(app.env)
    log.info("\nseconds in the kernel, of at most")
    for name, run in found.items():
        failed = "" if run["succeeded"] else f"  FAILED: {run['error']}"
        log.info(row(name, run["runtime"], PAGE_SECONDS) + failed)
    total = sum(run["runtime"] for run in found.values())
    log.info(row("all pages together", total, TOTAL_SECONDS))


def row(name: str, seconds: float, limit: int) -> str:
    """One line of the table."""
    mark = "  OVER THE LIMIT" if seconds > limit else ""
    return f"  {name:32} {seconds:6.1f}  {limit:4}{mark}"


def on_build_finished(app, exception) -> None:
    """Report; after a failure, let the next build read every page again.

    Sphinx repeats no warning for a page that it need not read, so without
    this a second build would pass over the page that failed the first.
    """
    if exception is None and app.builder.format == "html":
        print_runs(app)
        copy_what_no_page_tells(app)
    if exception or app._warncount:
        Path(app.doctreedir, "environment.pickle").unlink(missing_ok=True)


def setup(app) -> dict:
    """Connect the hooks; the buttons come after the theme made them.

    A page's kernel inherits tqdm's switch: a bar would leave a widget in
    the page, and the page would load its script from a foreign host.
    """
    os.environ["TQDM_DISABLE"] = "1"
    app.add_role("colab", Colab())
    app.connect("doctree-resolved", fill_colab_links)
    app.connect("builder-inited", switch_thebe_off, priority=1)
    app.connect("html-page-context", point_to_notebook, priority=900)
    app.connect("build-finished", on_build_finished)
    return {"version": "1", "parallel_read_safe": True}
