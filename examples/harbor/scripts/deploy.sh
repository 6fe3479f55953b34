#!/usr/bin/env bash
#
# Builds the services and copies them to the hosts of an environment.
#
#   scripts/deploy.sh [--dry-run] staging|production [service...]

set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
readonly ROOT
readonly ALL_SERVICES=(ledger pricing gateway web)
readonly HEALTH_TRIES=10

dry_run=false

log() { printf '[deploy] %s\n' "$*" >&2; }

die() {
  log "error: $*"
  exit 1
}

# Runs a command, or only prints it in a dry run.
run() {
  if "$dry_run"; then
    log "would run: $*"
  else
    "$@"
  fi
}

gateway_url() {
  HARBOR_ENV="$1" node -p "require('$ROOT/web/harbor.config.cjs').gatewayUrl"
}

build_service() {
  local service="$1"
  log "building $service"
  case "$service" in
    web) (cd "$ROOT/web" && run npm run build -- --outDir "$ROOT/dist/web") ;;
    pricing) run python3 -m pip wheel --no-deps --wheel-dir "$ROOT/dist/pricing" "$ROOT/pricing" ;;
    gateway) (cd "$ROOT/gateway" && run go build -o "$ROOT/dist/gateway/" .) ;;
    ledger) (cd "$ROOT/ledger" && run cargo build --release --target-dir "$ROOT/dist/ledger") ;;
    *) die "unknown service: $service" ;;
  esac
}

ship_service() {
  local service="$1" environment="$2"
  local host="deploy@$service.$environment.harbor.example"
  run rsync --archive --delete "$ROOT/dist/$service/" "$host:/srv/$service/"
  run ssh "$host" "sudo systemctl restart harbor-$service"
}

# Waits until the gateway answers; a deployment that never gets there has failed.
wait_healthy() {
  local url="$1/health" try
  for ((try = 1; try <= HEALTH_TRIES; try++)); do
    if run curl --silent --fail --max-time 3 "$url"; then
      log "healthy after $try tries"
      return 0
    fi
    sleep "$try"
  done
  die "$url did not become healthy"
}

main() {
  if [[ "${1:-}" == "--dry-run" ]]; then
    dry_run=true
    shift
  fi
  local environment="${1:-}"
  [[ "$environment" == staging || "$environment" == production ]] \
    || die "usage: deploy.sh [--dry-run] staging|production [service...]"
  shift

  local services=("$@")
  if ((${#services[@]} == 0)); then
    services=("${ALL_SERVICES[@]}")
  fi

  local service
  for service in "${services[@]}"; do
    build_service "$service"
    ship_service "$service" "$environment"
  done
  wait_healthy "$(gateway_url "$environment")"
}

main "$@"
