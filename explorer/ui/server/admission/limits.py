"""The server's limits per visitor, per IP address and in total.

Public servers set ``EXPLORER_PROFILE=hosted`` for stricter limits.
"""

import os

import streamlit as st

from explorer.ui.server.admission.visitors import VisitorQuota

st.secrets.load_if_toml_exists()  # copies settings from Streamlit's secrets to the environment
HOSTED = os.environ.get("EXPLORER_PROFILE") == "hosted"
_SCALE = 1 if HOSTED else 4

# A class of 300 may share one address, and a page embedded in another site gets no cookie.
_PER_VISITOR, _PER_ANONYMOUS, _PER_ADDRESS = 16 * _SCALE, 300 * _SCALE, 360 * _SCALE
MAX_PAGES = 400 * _SCALE  # open pages: enough for a class of 300 with some second tabs
PAGES_QUOTA = VisitorQuota(visitor=_PER_VISITOR, anonymous=_PER_ANONYMOUS, address=_PER_ADDRESS)
FIRST_MESSAGE_TIMEOUT_S = 10.0  # pages send their first message as soon as they are connected
LONG_BODY_BYTES = 65_536  # bytes; longer request bodies count towards the next quota until they are answered
LONG_BODIES_QUOTA = VisitorQuota(visitor=1, anonymous=2, address=4)  # further long bodies wait unread
BODY_TIMEOUT_S = 30.0  # time limit for receiving a request body
UNREAD_TIMEOUT_S = 30.0  # time without acknowledgement after which a connection is closed
SLICE_BYTES = 65_536  # size of the slices in which responses are sent
MAX_UNSENT_BYTES = 65_536  # bytes that the kernel buffers per connection, in addition to those in flight
# Responses with more bytes count towards the next quota until they have been sent.
LARGE_RESPONSE_BYTES = 500_000
RESPONSES_QUOTA = VisitorQuota(visitor=2 * _SCALE, anonymous=8 * _SCALE, address=24 * _SCALE)
FILES_PER_PAGE = 12  # open files for connections and a thread, with a reserve for recently closed pages
MAX_OPEN_FILES = 10_240  # enough for all pages; every system without a limit allows it

COMPUTE_SLOTS = 2  # requests that may use torch or the parser of pasted code at the same time
CHECK_SLOTS = 1  # simultaneous checks of rules, which take a second; a curve takes ten milliseconds
SEARCH_SLOTS = 2  # simultaneous searches for similar rules, which may take seconds
READ_SLOTS = 2  # simultaneous requests about settings, tables and the cost of studies
EXPORT_SLOTS = 1  # simultaneous exports of runs; a long history takes some seconds
MAX_WAITING = 64 * _SCALE  # waiting requests per kind of slot; further ones are refused

REQUESTS_PER_S = 20 * _SCALE  # limit per visitor; also the size of a burst after a pause
ADDRESS_REQUESTS_PER_S = 1_000 * _SCALE  # limit per IP address, which a whole class may share
RERUNS_PER_S = 5 * _SCALE  # limit per page; also the size of a burst after a pause
MAX_MESSAGE_BYTES = 65_536  # largest message of a page to Streamlit; a link has 2,000 characters
FRAMES_PER_S = 300  # total of all watched training runs: ten per second for each of thirty runs
MAX_WATCHERS = 16 * _SCALE  # connections per watched run, including those not yet known to be broken
WATCH_QUOTA = PAGES_QUOTA  # limit on the runs and studies that a visitor watches
# Limits on running or waiting runs; the engine holds 402, and as many paused or finished ones.
RUNS_QUOTA = VisitorQuota(visitor=8 * _SCALE, anonymous=300, address=360)
STUDIES_QUOTA = VisitorQuota(visitor=2 * _SCALE, anonymous=48, address=56)  # the engine holds 64 studies
REFUSAL_DELAY_S = 1.0  # delay of refusals, because refused clients try again immediately
MAX_TRACKED_VISITORS = 4_096  # number of visitors whose request rates are tracked
MAX_STUDY_RUNS = 3_000 * _SCALE  # maximum number of runs in one study
STUDY_CHUNK = 50  # number of a study's runs trained together; small, so that results appear gradually
STUDY_FRAMES_PER_S = 10  # events per second of all watched studies together

MAX_CLASSES = 100  # classes open at the same time; the length of a class code is chosen for this number
CLASSES_QUOTA = VisitorQuota(visitor=2, anonymous=8, address=24)
MAX_CLASS_SEATS = MAX_PAGES  # the maximum number of students in all open classes together
CLASS_SEATS_QUOTA = PAGES_QUOTA
CODE_MISSES_PER_S = 2  # unknown codes that one visitor may type per second
ADDRESS_CODE_MISSES_PER_S = 20  # the same limit per IP address, which a whole class may share
TOTAL_CODE_MISSES_PER_S = 4_000  # the same limit for all visitors together
