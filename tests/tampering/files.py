"""Changes to the notebook file: what an honest file does not hold.

A change is a function of the file's JSON. The rebuild is the guard of
all: the notebook that is run is the same as without the change. `damage`
is what the file does where it is believed: it gains points, loses a
check, or stops nbgrader.
"""

import copy
import os

FILES = {}  # name: (mechanism, damage, change)
EDITED, BROKEN = "notebook file edited", "notebook file malformed"
SMUGGLED = "contents smuggled in"


def change(mechanism, damage):
    """Note a change under its name."""

    def note(function):
        name = function.__name__.replace("_", " ")
        FILES[name] = (mechanism, damage, function)
        return function

    return note


def cell(notebook, grade_id):
    """Return a cell by its label."""
    return next(
        c for c in notebook["cells"]
        if c["metadata"].get("nbgrader", {}).get("grade_id") == grade_id
    )  # fmt: skip


def tags(notebook, grade_id):
    """Return a cell's tags."""
    return cell(notebook, grade_id)["metadata"]["nbgrader"]


@change(EDITED, "points")
def test_replaced(notebook):
    cell(notebook, "softmax-check")["source"] = "pass"


@change(EDITED, "points")
def test_softened(notebook):
    check = cell(notebook, "softmax-check")
    check["source"] = (
        f"try:\n    1 / 0\nexcept Exception:\n    pass\n"
        f"'''{check['source']}'''\n0 or None"
    )


@change(EDITED, "points")
def hundred_points(notebook):
    tags(notebook, "slope-check")["points"] = 100
    cell(notebook, "slope-check")["source"] = "100.0"


@change(EDITED, "points")
def partial_credit_typed_in(notebook):
    cell(notebook, "slope-check")["source"] = "2.0"


@change(EDITED, "points")
def test_of_its_own(notebook):
    extra = copy.deepcopy(cell(notebook, "softmax-check"))
    extra["metadata"]["nbgrader"] |= {"grade_id": "bonus", "points": 50}
    extra |= {"source": "pass", "id": "bonus"}
    notebook["cells"].append(extra)


@change(EDITED, "points")
def helper_replaced_in_the_setup(notebook):
    cell(notebook, "setup")["source"] += "\ncheck_close = lambda *a: None"


@change(EDITED, "points")
def tests_moved_before_a_patch(notebook):
    place = notebook["cells"].index(cell(notebook, "softmax-check"))
    patch = copy.deepcopy(cell(notebook, "setup"))
    patch |= {"source": "check_close = lambda *a: None", "id": "patch"}
    patch["metadata"] = {}
    setup = cell(notebook, "setup")
    setup["source"] = f"{setup['source']}\n{patch['source']}"
    notebook["cells"].insert(place, notebook["cells"].pop(place))


@change(EDITED, "lost")
def test_deleted(notebook):
    notebook["cells"].remove(cell(notebook, "softmax-check"))


@change(EDITED, "lost")
def test_turned_raw(notebook):
    check = cell(notebook, "softmax-check")
    check["cell_type"] = "raw"


@change(EDITED, "lost")
def test_turned_into_text(notebook):
    cell(notebook, "softmax-check")["cell_type"] = "markdown"


@change(EDITED, "lost")
def test_untagged(notebook):
    del cell(notebook, "softmax-check")["metadata"]["nbgrader"]


@change(EDITED, "lost")
def test_without_grade(notebook):
    tags(notebook, "softmax-check")["grade"] = False


@change(EDITED, "lost")
def test_marked_as_an_answer(notebook):
    tags(notebook, "softmax-check")["solution"] = True


@change(EDITED, "lost")
def test_under_another_name(notebook):
    tags(notebook, "softmax-check")["grade_id"] = "softmax-chek"


@change(EDITED, "points")
def test_worth_more(notebook):
    tags(notebook, "slope-check")["points"] = 1000
    cell(notebook, "slope-check")["source"] = "1000.0"


@change(EDITED, "stops")
def label_twice(notebook):
    check = cell(notebook, "softmax-check")
    notebook["cells"].append({**copy.deepcopy(check), "id": "again"})


@change(EDITED, "stops")
def label_with_a_path(notebook):
    tags(notebook, "softmax-check")["grade_id"] = "../../x"


@change(EDITED, "stops")
def schema_of_another_age(notebook):
    tags(notebook, "softmax-check")["schema_version"] = 1


@change(EDITED, "stops")
def points_of_text(notebook):
    tags(notebook, "softmax-check")["points"] = "all"


@change(BROKEN, "stops")
def tags_of_a_list(notebook):
    cell(notebook, "softmax-check")["metadata"]["nbgrader"] = [1]


@change(BROKEN, "stops")
def metadata_of_text(notebook):
    cell(notebook, "softmax-check")["metadata"] = "x"


@change(BROKEN, "stops")
def cell_of_text(notebook):
    notebook["cells"].append("x")


@change(BROKEN, "stops")
def source_of_numbers(notebook):
    cell(notebook, "softmax-check")["source"] = [1, 2]


@change(BROKEN, "stops")
def outputs_of_text(notebook):
    cell(notebook, "softmax-check")["outputs"] = "x"


@change(BROKEN, "stops")
def kind_that_does_not_exist(notebook):
    cell(notebook, "softmax-check")["cell_type"] = "slide"


@change(BROKEN, "stops")
def format_of_the_future(notebook):
    notebook["nbformat"] = 99


@change(BROKEN, "stops")
def kernel_that_does_not_exist(notebook):
    notebook["metadata"]["kernelspec"] = {"name": "ir", "display_name": "R"}


@change(SMUGGLED, "carried")
def forged_outputs(notebook):
    cell(notebook, "softmax-check")["outputs"] = [{
        "output_type": "display_data", "metadata": {},
        "data": {"text/html": "<script>smuggled</script>"},
    }]  # fmt: skip


@change(SMUGGLED, "carried")
def attachment(notebook):
    cell(notebook, "why")["attachments"] = {"x": {"text/html": "smuggled"}}


@change(SMUGGLED, "carried")
def metadata_of_a_cell(notebook):
    cell(notebook, "softmax")["metadata"]["x"] = "smuggled" * 10_000


@change(SMUGGLED, "carried")
def metadata_of_the_notebook(notebook):
    notebook["metadata"]["widgets"] = {"x": "smuggled"}


@change(SMUGGLED, "carried")
def raw_cell(notebook):
    notebook["cells"].append({
        "cell_type": "raw", "metadata": {"raw_mimetype": "text/html"},
        "id": "raw", "source": "<script>smuggled</script>",
    })  # fmt: skip


@change(SMUGGLED, "carried")
def text_with_a_script(notebook):
    notebook["cells"].append({
        "cell_type": "markdown", "metadata": {}, "id": "text",
        "source": "<script>smuggled</script>",
    })  # fmt: skip


@change(SMUGGLED, "carried")
def hidden_cell(notebook):
    notebook["cells"].append({
        "cell_type": "raw", "id": "hidden", "source": "smuggled",
        "metadata": {"jupyter": {"source_hidden": True}},
    })  # fmt: skip


HANDED_IN = "file handed in"


def link(path):
    """Hand in a link to somebody else's notebook."""
    other = path.with_name("other.ipynb")
    other.write_text('{"cells": [{"source": "canary-of-another"}]}')
    path.symlink_to(other)


def pipe(path):
    """Hand in a pipe: whoever reads it waits for a writer."""
    os.mkfifo(path)


def large(path):
    """Hand in a file with a hole of a terabyte."""
    with path.open("wb") as file:
        file.truncate(1 << 40)


HANDED = {  # name: (guard, how the file is made)
    "link to another's notebook": ("links and pipes refused", link),
    "pipe that nobody fills": ("links and pipes refused", pipe),
    "file of a terabyte": ("limit of a submission", large),
}
