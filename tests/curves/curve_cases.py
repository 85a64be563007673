import numpy as np
import pandas as pd

DTYPES = {"float32": np.float32, "float64": np.float64}


def block_of(frame: pd.DataFrame, rule: str) -> pd.DataFrame:
    return frame[frame["rule"] == rule].reset_index(drop=True)
