#!/usr/bin/env bash
# `npm run check`: lint takes as long as the other checks together, so it runs beside them. Each runs even when another one fails.
lint=$(mktemp)
trap 'rm -f "$lint"' EXIT
eslint . >"$lint" 2>&1 &
failed=0
for check in 'tsc' 'tsc -p pages' 'prettier --check .' 'npm run -s deps'; do
  echo "> $check"
  $check || failed=1
done
echo '> eslint .'
wait $! || failed=1
cat "$lint"
exit $failed
