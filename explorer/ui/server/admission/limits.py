"""The limits of one server for its visitors; ``EXPLORER_PROFILE=hosted`` is for one that strangers reach."""

import os

import streamlit as st

from explorer.ui.server.admission.visitors import Share

st.secrets.load_if_toml_exists()  # settings that are given as Streamlit's secrets are in the environment now
HOSTED = os.environ.get("EXPLORER_PROFILE") == "hosted"
_SPARE = 1 if HOSTED else 4

# A class of 300 may share one address, and browsers in a frame of another site keep no cookie.
_EACH, _NAMELESS, _ADDRESS = 16 * _SPARE, 300 * _SPARE, 360 * _SPARE
PAGES = 400 * _SPARE  # open at the same time: a class of 300, and some who opened two
PAGES_SHARE = Share(each=_EACH, nameless=_NAMELESS, address=_ADDRESS)
FIRST_MESSAGE_S = 10.0  # a page speaks as soon as it is connected
LONG_BODY = 65_536  # bytes; longer ones count in the next share until they are answered
LONG_BODIES_SHARE = Share(each=1, nameless=2, address=4)  # further ones wait, unread
BODY_S = 30.0  # until all that is sent to be computed must be there
UNREAD_S = 30.0  # until a connection is closed on which the client takes nothing of what is sent
SLICE = 65_536  # bytes of an answer that are given to a connection at once
UNSENT = 65_536  # bytes that the system keeps of a connection beside those on their way
LARGE_ANSWER = 500_000  # bytes; longer answers for one client count in the next share until they are taken
ANSWERS_SHARE = Share(each=2 * _SPARE, nameless=8 * _SPARE, address=24 * _SPARE)
FILES_A_PAGE = 12  # connections, a script's thread, and what is kept for a while of those who have left
OPEN_FILES = 10_240  # more than all pages need, and what every system grants that has no limit

COMPUTING = 2  # requests that torch or the reader works on at the same time
JUDGING = 1  # checks of a rule, which take a second where a curve takes ten milliseconds
SEARCHING = 2  # near rules, which take seconds where a rule is not linear in g: no visitor has both seats
READING = 2  # settings, tables and costs of studies that are read at the same time
TAKING = 1  # files of runs that are written at the same time: a long history takes some seconds
WAITING = 64 * _SPARE  # requests for that; one more is asked to come again

REQUESTS = 20 * _SPARE  # of one visitor a second, and as many at once before that
ADDRESS_REQUESTS = 1_000 * _SPARE  # of all at one address: a whole class
RERUNS = 5 * _SPARE  # of one page a second, and as many at once before that
MESSAGE = 65_536  # bytes that a page sends Streamlit at once: a link has 2,000
PICTURES = 300  # a second, of all watched trainings together: ten each for thirty
WATCHERS = 16 * _SPARE  # of one training: connections that broke off unnoticed are among them
WATCHED_SHARE = PAGES_SHARE  # trainings and studies that are watched
RUNS_SHARE = Share(
    each=8 * _SPARE, nameless=300, address=360
)  # that run or wait, of the engine's 402; as many are held open
STUDIES_SHARE = Share(each=2 * _SPARE, nameless=48, address=56)  # of the engine's 64
REFUSED_S = 1.0  # until who asks too often, or has too many pages, is told so: they ask again at once
VISITORS = 4_096  # whose pace is remembered
LANES = 3_000 * _SPARE  # runs of one study
STUDY_CHUNK = 50  # runs of a study that go together at least, and twice as many at most: the picture fills
STUDY_PICTURES = 10  # a second, of all watched studies together

CLASSES = 100  # open at the same time: for so many the length of a code is reckoned
CLASSES_SHARE = Share(each=2, nameless=8, address=24)
CLASS_SEATS = PAGES  # of all open classes together
CLASS_SEATS_SHARE = PAGES_SHARE
CODE_MISSES = 2  # codes that no class has, of one visitor a second, and as many at once before that
ADDRESS_CODE_MISSES = 20  # of all at one address: a class mistypes
ALL_CODE_MISSES = 4_000  # of all visitors of the server
