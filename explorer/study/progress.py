"""The progress bar of a study or a race."""

import warnings
from typing import Any


def progress_bar(**options: Any) -> Any:
    """Return a tqdm progress bar: a widget in notebooks that support widgets, else a line of text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tqdm warns in notebooks without widgets
        from tqdm.auto import tqdm
    return tqdm(**options)
