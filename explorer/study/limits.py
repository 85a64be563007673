"""Every limit of a study, each one named number."""

HOSTED_LANES = 3_000  # runs of a study on a server that strangers reach
MAX_LANES = 4 * HOSTED_LANES  # runs of any study
MIN_CHUNK, MAX_CHUNK = 50, 300  # trials in one ensemble; 300 take 500 MB at most
MAX_CHUNK_PRODUCTS = 200_000_000  # multiplications forward in a step of a chunk: about 50 ms
CHUNKS = 16  # that a stage is cut into for workers of whatever speed, as far as their size allows
SEEDS_TOGETHER = 5  # that are tried at every rate before the next are: a picture of all comes early
ATTEMPTS = 4  # at a chunk whose worker is lost, before a study says so and stops
CLUSTER_S = 5  # that a cluster has to answer at the start
AWAY_S = 120  # that it may be away later, as while its scheduler begins anew
TOLD_S = 5  # after which it is said that a cluster is away
