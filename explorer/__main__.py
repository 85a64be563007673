"""The command ``python -m explorer``: starts the app from any folder, with Streamlit's options."""

import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

_PACKAGE = Path(__file__).parent
_SCRIPTS = (_PACKAGE / "app" / "app.py", _PACKAGE.parent / "app.py")  # in a package, in a clone
_MISSING = 'The app needs Streamlit, which this installs in the folder of the explorer: pip install ".[app]"'


def main() -> None:
    """Run ``app.py`` in Streamlit, with the settings in its folder and the options on the command line.

    Raises SystemExit with a message if Streamlit is not installed.
    """
    if find_spec("streamlit") is None:
        sys.exit(_MISSING)
    script = next(filter(Path.is_file, _SCRIPTS))
    sys.argv = ["streamlit", "run", str(script), *sys.argv[1:]]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
