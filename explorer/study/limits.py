"""The limits of a study, such as the largest number of runs, as named constants."""

MAX_HOSTED_TRIALS = 3_000  # maximum number of runs of a study on a public server
MAX_TRIALS = 4 * MAX_HOSTED_TRIALS  # maximum number of runs of any study
MIN_CHUNK, MAX_CHUNK = 50, 300  # number of trials in one ensemble; 300 take at most 500 MB
MAX_CHUNK_PRODUCTS = 200_000_000  # multiplications in the forward pass of a chunk's step: about 50 ms
CHUNKS = 16  # number of chunks per stage, so that fast and slow workers share the load; fewer if runs are few
SEEDS_TOGETHER = 5  # seeds are tried in groups of this size, so that all rules have early results
ATTEMPTS = 4  # number of attempts for a chunk whose workers are lost, before the study stops with an error
CLUSTER_S = 5  # seconds to wait for a cluster's first answer
MAX_AWAY_S = 120  # seconds a cluster may be unreachable later, for example while its scheduler restarts
WARN_S = 5  # a warning reports a cluster that has been unreachable for this many seconds
