"""Numbers that stay pending while nothing sees more of them than an operand.

``uses.py`` follows a number through the syntax tree of the function that gets it, ``sites.py`` finds that
function and remembers the answers.

Not here: the class of pending numbers (``src/array/lazy_scalar.rs``).
"""
