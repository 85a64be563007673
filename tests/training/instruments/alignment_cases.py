from explorer.training import Run, Settings


def nets_of(**settings):
    """The nets of a run before its first step, as instruments see them."""
    settings = Settings(device="cpu", **settings)
    return Run(settings).recorder.observe(settings)
