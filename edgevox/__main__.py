"""`python -m edgevox` is the `edgevox` command."""

import sys

from edgevox.cli.main import main

sys.exit(main())
