#!/usr/bin/env bash
# Shows what Asterism makes of the example repository. Run by `make demo`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

harbor=examples/harbor
count=0

# Says what the step shows, then the command, then runs it.
show() {
  local purpose=$1
  shift
  count=$((count + 1))
  printf '\n%s. %s\n\n$ asterism %s\n\n' "$count" "$purpose" "$*"
  asterism "$@"
}

show 'Which files would be indexed?' files "$harbor"
show 'What does a TypeScript file say?' outline "$harbor/web/src/auth/tokenService.ts"
show 'The same for Python.' outline "$harbor/pricing/harbor_pricing/engine.py"
show 'The same for Go.' outline "$harbor/gateway/ratelimit/limiter.go"
show 'What can be searched, as a model will see it: where the code stands, then the code, children collapsed.' \
  chunks "$harbor/web/src/auth/baseValidator.ts" --show embedding
show 'Do the ten rules of chunks hold for every file?' validate "$harbor"

printf '\nThat was the example. Try it on your own code:\n\n  .venv/bin/asterism outline path/to/a/file\n\n'
