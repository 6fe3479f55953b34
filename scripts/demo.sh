#!/usr/bin/env bash
# Indexes the example repository and asks it questions. Run by `make demo`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

harbor=examples/harbor
count=0

# The demo leaves nothing behind.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export ASTERISM_DATA_DIR=$scratch/data ASTERISM_CACHE_DIR=$scratch/cache

# Says what the step shows, then the command, then runs it.
show() {
  local purpose=$1
  shift
  count=$((count + 1))
  printf '\n%s. %s\n\n$ asterism %s\n\n' "$count" "$purpose" "$*"
  asterism "$@"
}

show 'Index the repository: every symbol becomes a searchable piece.' index "$harbor"
show 'What does the index hold, and is it fresh?' status "$harbor"
show 'Ask it something.' search 'how does the ledger refund a parcel' "$harbor" --limit 2
show 'Look up a symbol.' search 'symbol = TokenBucket > Allow' "$harbor"
show 'Where is a name defined, exported, imported and used?' symbols TokenService "$harbor"
show 'Again: nothing changed, so nothing is done.' index "$harbor"
show 'What is indexed of one file, and what do its imports mean?' debug file "$harbor/web/src/index.ts"
show 'What does a Go file say?' outline "$harbor/gateway/ratelimit/limiter.go"
show 'What a model sees of a file: where the code stands, then the code, children collapsed.' \
  chunks "$harbor/web/src/auth/baseValidator.ts" --show embedding
show 'Which files are left out?' files "$harbor" --skipped
show 'Who calls a method, and who calls those?' callers TokenService.revoke "$harbor" --depth 2
show 'The same search as an agent reads it: how the hits connect, then the code that is needed.' \
  search 'how is a parcel priced' "$harbor" --format context --min-score 0.3
show 'Take over an agent: rules, references and a tool server in one file.' agent import examples/agents/harbor.yaml
show 'What should this request know? The few items that matter, and the code, in one budget.' \
  context 'a customer wants part of the price back because the parcel was returned' "$harbor" \
  --agent harbor --explain --min-score 0.3
show 'Answer in words: without a model, from the code itself, with the places that say so.' \
  ask 'how does the ledger refund a parcel?' "$harbor"

printf '\nThat was the example. Try it on your own code:\n\n  .venv/bin/asterism index path/to/a/repository\n\n'
