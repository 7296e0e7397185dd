"""The entry point of the command line."""

import os
import signal
import sys

from ._trommel import run_program


def main():
    # The program handles signals by itself, as if no interpreter were around it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    program = os.path.abspath(sys.argv[0])
    status = run_program(["trommel", *sys.argv[1:]], program if os.access(program, os.X_OK) else None)
    sys.stdout.flush()
    sys.exit(status)
