"""Functions that people could have written, with what each check should say of them.

A module per class of case. Each maps a name to a ``Case``.
"""
