"""`python -m asterism.cli`, where the console script is not on the path."""

from asterism.cli.main import main

raise SystemExit(main())
