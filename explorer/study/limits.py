"""The limits of a study, such as the largest number of runs, as named constants."""

MAX_HOSTED_TRIALS = 3_000  # runs of a study on a public server
MAX_TRIALS = 4 * MAX_HOSTED_TRIALS  # runs of any study
MIN_CHUNK, MAX_CHUNK = 50, 300  # trials in one ensemble; 300 take 500 MB at most
MAX_CHUNK_PRODUCTS = 200_000_000  # multiplications forward in a step of a chunk: about 50 ms
CHUNKS = 16  # per stage, so that fast and slow workers share the load; fewer if they would be too small
SEEDS_TOGETHER = 5  # seeds are tried in groups of this size, so that all rules have early results
ATTEMPTS = 4  # how often a chunk whose worker is lost is tried before the study stops with an error
CLUSTER_S = 5  # how long to wait for a cluster's first answer, in seconds
MAX_AWAY_S = 120  # seconds a cluster may be unreachable later, for example while its scheduler restarts
WARN_S = 5  # a warning reports a cluster that has been unreachable for this many seconds
