"""What a process does before it imports the explorer, this one and its workers."""

from tests.accelerator import absent, older


def prepare_process(name: str) -> list[str]:
    """Complete torch for a device by its name, and return the packages that are missing."""
    older.complete_torch(name)
    if name == "pretended":
        from tests.accelerator.pretend import pretend_device

        pretend_device()
    return absent.fill_in()
