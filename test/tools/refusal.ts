import assert from 'node:assert/strict';
import { runCommand } from '../../src/tools/commands.ts';
import { SetupError } from '../../src/base/errors.ts';

/**
 * The refusal of `crier <args>`, in the test's process: for commands that refuse before they print anything. Their process writes the
 * message to standard error, after `crier: `, and exits with 2 if the code is ERR_USAGE, else with 1.
 */
export async function refusalOf([name, ...args]: readonly [string, ...string[]]): Promise<SetupError> {
  const refusal: unknown = await runCommand(name, args).catch((error: unknown) => error);
  assert.ok(refusal instanceof SetupError, String(refusal));
  assert.doesNotMatch(refusal.message, /^\s+at /m);
  return refusal;
}
