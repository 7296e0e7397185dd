"""A bar on standard error."""

import sys


class Bar:
    """Shows bytes with tqdm if it is installed, otherwise as a percentage on a terminal."""

    def __init__(self):
        try:
            from tqdm.auto import tqdm
        except ImportError:
            tqdm = None
        self._tqdm = tqdm
        self._bar = None
        self._shown = None

    def __call__(self, done, total):
        if self._tqdm is not None:
            if self._bar is None:
                self._bar = self._tqdm(total=total, unit="B", unit_scale=True, unit_divisor=1024)
            self._bar.update(done - self._bar.n)
            return
        if not sys.stderr.isatty():
            return
        shown = f"{100 * done // total} %" if total else f"{done >> 20} MiB"
        if shown != self._shown:
            self._shown = shown
            print(f"\r{shown}", end="", file=sys.stderr, flush=True)

    def close(self):
        if self._bar is not None:
            self._bar.close()
        elif self._shown is not None:
            print(file=sys.stderr)
