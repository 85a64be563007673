"""The bar that shows how far a study or a race is."""

import warnings
from typing import Any


def progress_bar(**options: Any) -> Any:
    """Return a bar of tqdm: a widget in a notebook that has widgets, else a line of text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what tqdm says of a notebook without widgets
        from tqdm.auto import tqdm
    return tqdm(**options)
