"""Code shared by the instruments, which measure the neural nets of a training run."""
