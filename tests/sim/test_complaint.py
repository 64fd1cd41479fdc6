"""The line that says what is wrong, found among all that tools say."""

import pytest

from sim.complaint import complaint

QUOTED_SOURCE = """In file included from /home/a b/library.cc:1:
/home/values.h: In function 'int f()':
/home/a b/library.cc:3:5: warning: unused variable 'error' [-Wunused-variable]
    3 | error: int error = 2;
      | error: ^~~~~
/home/a b/library.cc:58:28: error: 'nothing' was not declared in this scope
   58 |   return nothing;
"""
LINKER = """/usr/bin/ld: x.o: in function `f':
x.cc:(.text+0x5): undefined reference to `foo()'
collect2: error: ld returned 1 exit status
"""
TRACEBACK = """Traceback (most recent call last):
  File "error.py", line 3, in error
    raise ValueError("no")
ValueError: no
"""


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (
            QUOTED_SOURCE,
            "/home/a b/library.cc:58:28: error: 'nothing' was not declared in this scope",
        ),
        (LINKER, "x.cc:(.text+0x5): undefined reference to `foo()'"),
        (
            "g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n",
            "g++: fatal error: Killed signal terminated program cc1plus",
        ),
        ("collect2: fatal error: cannot find 'ld'\n", "collect2: fatal error: cannot find 'ld'"),
        (TRACEBACK, "ValueError: no"),
        ("reading\nERROR: Parse error in line 1.\n", "ERROR: Parse error in line 1"),
        ("a.v:1: warning: w\na.v:4: syntax error\nI give up.\n", "a.v:4: syntax error"),
        ("a.v:4: sorry: not supported\n", "a.v:4: sorry: not supported"),
        ("%Warning-X: w\n%Error-Y: a.v:3:1: no\n", "%Error-Y: a.v:3:1: no"),
        ("done\n/tmp/error/a.v:3: warning: implicit\nend\n", "/tmp/error/a.v:3: warning: implicit"),
        ("make: *** [Vtop.mk:3: top] Error 2\n", "make: *** [Vtop.mk:3: top] Error 2"),
        ("counting error_count\n\nthe end.\n", "the end"),
        ("", None),
        ("\n \n", None),
    ],
)
def test_is_the_first_error_or_else_the_first_warning_or_the_end(said, line):
    assert complaint(said) == line
