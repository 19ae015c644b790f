import { readVersion } from '../base/version.ts';
import { readArguments } from './command.ts';

export const usage = `Prints the version, and the revision of the build where it is known.

Usage: crier version
`;

export function run(args: readonly string[]): Promise<number> {
  readArguments('version', args, { options: {} });
  process.stdout.write(`${readVersion()}\n`);
  return Promise.resolve(0);
}
