"""Makes of what was learnt the adapter that ships: `python -m training.hearing.keep --help`.

A share of what was learnt is kept: weights between the old and the new ones. The file also says how the
recogniser wants to be asked, which is how it learnt to be.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from edgevox.stt.adapter import read_adapter, write_adapter
from edgevox.stt.ladder import Asking

TAUGHT = Asking(margin_s=0.3, least_s=2.0, tail_s=0.0, least_seen_s=0.0, timestamps=False, name_tokens=64)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.hearing.keep", description=__doc__)
    parser.add_argument("--share", type=float, required=True, help="of what was learnt, 0 to 1")
    parser.add_argument("adapter", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    alpha, factors = read_adapter(options.adapter)
    write_adapter(options.out, factors, alpha=alpha * options.share, asking=TAUGHT)


if __name__ == "__main__":
    main()
