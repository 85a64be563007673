"""Texts that are no formulas: what has broken out of other evaluators, and what breaks parsers."""

_ESCAPES = (
    "().__class__.__bases__[0].__subclasses__()", "x.__class__", "1..__class__", "x.grad_fn.next_functions",
    "abs.__globals__['__builtins__']", "__import__('os').system('true')", "__class__", "_", "eval('x')",
    "open('/etc/passwd')", "getattr(x, 'data')", "globals()", "type(x).mro()", "os.system('true')",
    "torch.load('x')", "int('9' * 9)", "max",
)  # fmt: skip
_SYNTAX = (
    "'x'", "f'{x.__class__}'", "'x' * 9**9", "x[0]", "[x for x in y]", "{x: y}", "(x for x in y)", "x,", "*x",
    "abs(*x)", "abs(x=x)", "abs(x for x in y)", "abs(x, )", "abs(,)", "abs x", "abs(x)(y)", "(x)(y)",
    "lambda: x", "x if y > 0 else g", "x and y", "not x", "None", "...", "yield x", "import os", "def f(): x",
    "x = y", "(z := x)", "x; import os", "x\ny", "x\n\ny = 1", "x \\\n+ y z", "x # y", "x @ y", "x // y",
    "x << y", "x?", "~x", "x | y", "x > 0 & y > 0", "x < (y < g)", "x > 0", "where(x, y, g)", "where(x > 0)",
)  # fmt: skip
_NUMBERS = (
    "1e999", "9" * 299 + "e99", "9" * 300 + "9", "." + "9" * 300, "1_000", "0x10", "1j", "1e", "1.e5.5", ".",
    "0.5.real", "1L", "1if x else 2", "inf", "nan",
)  # fmt: skip
_FLOODS = (
    "(" * 10_000 + "x" + ")" * 10_000, "(" * 10_000, ")" * 10_000, "(" * 149 + "x" + ")" * 149, "{" * 300,
    "-" * 5_000 + "x", "-" * 299 + "x", "~" * 299 + "x", "- " * 149 + "x", "x" + "**x" * 99, "x" + "+x" * 149,
    "x" + "-x" * 5_000, "2**" * 99 + "2", "abs(" * 59 + "x" + ")" * 59, "min(" + "x," * 147 + "x)",
    "abs(" + "x," * 5_000 + "x)", "where(x>0,1," * 25, "x " * 150, "," * 300, "z" * 300, "z" * 100_000,
    "a" * 298 + "()", "softplu" * 42 + "(x)", " " * 300, " " * 1_000_000, "\n" * 300, "\t", "",
)  # fmt: skip
_CHARACTERS = (
    "\0", "x + \0 y", "\ufeffx", "x\u00a0+ 1", "x\u2028y", "x\x1b[31m", "\ud800", "\U0010ffff", "ｘ", "（x）",
    "x\u0301", "\u202ex", "х", "ℯ ** x", "½", "٣ + x", "x ² y", "||x|", "|x| y|", "|x > 0|", "2_x", "1/2x",
    "x**2y", "2.x.x", "torch.", "torch.x", "np.pi.e", "torch .abs(x)", "torch.abs.abs(x)", "αβ" * 40, "x ≤ y",
    "ﬂoor(x)", "x😀y", "\\u0078", "<script>alert(1)</script>", "${x}", "x'; DROP TABLE x; --", "\\frac{x}{y}",
)  # fmt: skip

HOSTILE = (*_ESCAPES, *_SYNTAX, *_NUMBERS, *_FLOODS, *_CHARACTERS)
