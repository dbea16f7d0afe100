"""nbgrader's configuration: start `nbgrader` from this folder.

nbgrader executes this file and provides `get_config`.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from autograder.course import Course, configure
from autograder.preprocessors import configure_autograde

configure_autograde(configure(get_config(), Course()))
