"""One look for every figure of the book: vector, seeded, self-contained."""

BLUE, ORANGE, GREEN, RED, GREY = (
    "#2f6fb0", "#d9772b", "#3a8f5c", "#b8404a", "#7a7f87",
)


def use_course_style() -> None:
    """Set matplotlib to the course's look, with the same bytes each run."""
    import matplotlib
    from matplotlib_inline.backend_inline import set_matplotlib_formats

    set_matplotlib_formats("svg", metadata={"Date": None})
    matplotlib.rcParams.update({
        "svg.hashsalt": "the transformer, assembled",
        "svg.fonttype": "path",
        "figure.figsize": (6.4, 3.4),
        "figure.dpi": 110,
        "font.size": 10.5,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "#e3e5e8",
        "axes.axisbelow": True,
        "axes.titlesize": 11,
        "axes.titlelocation": "left",
        "legend.frameon": False,
        "axes.prop_cycle": matplotlib.cycler(
            color=[BLUE, ORANGE, GREEN, RED, GREY]
        ),
        "figure.constrained_layout.use": True,
    })
