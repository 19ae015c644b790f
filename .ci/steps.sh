# Steps of `.ci/run` and `.ci/full`, which source this: each step runs even when one before it failed. The summary comes last and names the
# steps that failed, each with its failed tests or the end of its output, and the flaky tests of those that passed; `finish` exits with
# theirs.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
exec </dev/null
export CI=true
# What the caller's shell carries must not decide what is installed or tested.
unset TEST_KAFKA_BROKERS TEST_KAFKA TEST_REDIS KAFKA_BROKERS REDIS_URL NODE_ENV NODE_OPTIONS
unset DISABLE
command -v npm >/dev/null || { echo 'npm was not found: install Node.js 20.19 or later' >&2; exit 1; }

summary=()
failed=0
output=$(mktemp)
trap 'rm -f "$output"' EXIT

step() {
  local name=$1 started=$SECONDS result=ok
  shift
  printf '\n=== %s\n' "$name"
  "$@" 2>&1 | tee "$output" || { result=FAILED; failed=1; }
  summary+=("$(printf '%-7s %5d s  %s' "$result" $((SECONDS - started)) "$name")")
  summary+=("$(reasons $result)")
  [ "$result" = ok ]
}

# What the runner of the tests says of failed and of flaky tests; of a step that failed otherwise, the end of its output.
reasons() {
  {
    [ "$1" = ok ] || grep '^FAILED: ' "$output" || tail -n 15 "$output"
    grep '^FLAKY, ' "$output"
  } | head -n 30 | cut -c 1-400 | sed 's/^/    /'
}

finish() {
  printf '\n=== summary: %d s\n' "$SECONDS"
  printf '%s\n' "${summary[@]}" | grep .
  exit "$failed"
}

install_programs() {
  npm run -s build:stack && node --enable-source-maps dist/stack/install-programs.js
}
