"""The progress bar of a study, or of a comparison of rules on the user's own net."""

import warnings
from typing import Any


def progress_bar(**options: Any) -> Any:
    """Return a tqdm progress bar, as a widget where notebooks support widgets, or else as text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tqdm warns in notebooks without widgets
        from tqdm.auto import tqdm
    return tqdm(**options)
