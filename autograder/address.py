"""Where the gradebook is: `[gradebook]` in course.toml, else SQLite."""

import sqlalchemy

from autograder import Refusal
from autograder.classfile import FILE, known, load, table

FORM = "postgresql+psycopg2://user:password@host/database"


def gradebook_url(place):
    """Return the address of nbgrader's database; Refusal if it is none."""
    path = place.classroom / FILE
    given = table(path, load(place), "gradebook")
    known(path, "key gradebook.", given, ("url",))
    if "url" not in given:
        return f"sqlite:///{place.classroom}/gradebook.db"
    url, needs = given["url"], f"it needs the form {FORM}"
    try:
        kind = sqlalchemy.make_url(url).drivername
    except (sqlalchemy.exc.ArgumentError, ValueError):
        # not repeated: the password is in it
        raise Refusal(
            f"{path}: gradebook.url is no address; {needs}"
        ) from None
    if kind != "postgresql+psycopg2":
        raise Refusal(f"{path}: gradebook.url starts with {kind}; {needs}")
    return url


def shown(url):
    """Return the address without its password, for people to read."""
    parts = sqlalchemy.make_url(url)
    parts = parts.difference_update_query(["password"])
    return parts.render_as_string(hide_password=True)
