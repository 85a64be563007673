"""Limits of one server per visitor, address and in total; ``EXPLORER_PROFILE=hosted`` is for public ones."""

import os

import streamlit as st

from explorer.ui.server.admission.visitors import VisitorQuota

st.secrets.load_if_toml_exists()  # copies settings from Streamlit's secrets to the environment
HOSTED = os.environ.get("EXPLORER_PROFILE") == "hosted"
_SCALE = 1 if HOSTED else 4

# A class of 300 may share one address, and a page embedded in another site gets no cookie.
_PER_VISITOR, _PER_ANONYMOUS, _PER_ADDRESS = 16 * _SCALE, 300 * _SCALE, 360 * _SCALE
MAX_PAGES = 400 * _SCALE  # open pages: a class of 300, and some second tabs
PAGES_QUOTA = VisitorQuota(visitor=_PER_VISITOR, anonymous=_PER_ANONYMOUS, address=_PER_ADDRESS)
FIRST_MESSAGE_TIMEOUT_S = 10.0  # a page sends its first message as soon as it is connected
LONG_BODY_BYTES = 65_536  # bytes; longer request bodies count towards the next quota until they are answered
LONG_BODIES_QUOTA = VisitorQuota(visitor=1, anonymous=2, address=4)  # further bodies wait unread
BODY_TIMEOUT_S = 30.0  # until a request body must be complete
UNREAD_TIMEOUT_S = 30.0  # until a connection is closed whose client acknowledges nothing
SLICE_BYTES = 65_536  # bytes of a response handed to a connection at once
MAX_UNSENT_BYTES = 65_536  # bytes that the kernel buffers per connection, in addition to those in flight
LARGE_RESPONSE_BYTES = (
    500_000  # bytes; longer responses for one client count towards the next quota until sent
)
RESPONSES_QUOTA = VisitorQuota(visitor=2 * _SCALE, anonymous=8 * _SCALE, address=24 * _SCALE)
FILES_PER_PAGE = 12  # connections, a script's thread, and remains of recently closed pages
MAX_OPEN_FILES = 10_240  # more than all pages need, and granted by every system without a limit

COMPUTE_SLOTS = 2  # concurrent requests for torch or the parser of pasted code
CHECK_SLOTS = 1  # checks of a rule take a second, a curve takes ten milliseconds
SEARCH_SLOTS = 2  # near rules take seconds if a rule is not linear in g; no visitor gets both slots
READ_SLOTS = 2  # settings, tables and costs of studies
EXPORT_SLOTS = 1  # files of runs: a long history takes some seconds
MAX_WAITING = 64 * _SCALE  # waiting requests per kind of slot; further ones are refused

REQUESTS_PER_S = 20 * _SCALE  # rates: per visitor, and as many at once after a pause
ADDRESS_REQUESTS_PER_S = 1_000 * _SCALE  # per address: a whole class
RERUNS_PER_S = 5 * _SCALE  # per page, and as many at once after a pause
MAX_MESSAGE_BYTES = 65_536  # of a page to Streamlit: a link has 2,000
FRAMES_PER_S = 300  # of all watched trainings together: ten each for thirty
MAX_WATCHERS = 16 * _SCALE  # of one training, including connections not yet known to be broken
WATCH_QUOTA = PAGES_QUOTA  # watched trainings and studies
RUNS_QUOTA = VisitorQuota(
    visitor=8 * _SCALE, anonymous=300, address=360
)  # running or waiting, of the engine's 402; as many may be paused or finished
STUDIES_QUOTA = VisitorQuota(visitor=2 * _SCALE, anonymous=48, address=56)  # of the engine's 64
REFUSAL_DELAY_S = 1.0  # before a refusal is sent: such clients try again at once
MAX_TRACKED_VISITORS = 4_096  # visitors whose rates are tracked
MAX_STUDY_RUNS = 3_000 * _SCALE  # runs of one study
STUDY_CHUNK = 50  # runs of a study trained together, at most twice as many: results appear gradually
STUDY_FRAMES_PER_S = 10  # of all watched studies together

MAX_CLASSES = 100  # open at a time; the length of a class code is chosen for this number
CLASSES_QUOTA = VisitorQuota(visitor=2, anonymous=8, address=24)
MAX_CLASS_SEATS = MAX_PAGES  # in all open classes together
CLASS_SEATS_QUOTA = PAGES_QUOTA
CODE_MISSES_PER_S = 2  # unknown codes, per visitor, and as many at once after a pause
ADDRESS_CODE_MISSES_PER_S = 20  # per address: a class mistypes
TOTAL_CODE_MISSES_PER_S = 4_000  # of all visitors together
