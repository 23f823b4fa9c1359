"""`python -m mkeyspec`."""

import sys

from mkeyspec.cli import main

if __name__ == "__main__":
    sys.exit(main())
