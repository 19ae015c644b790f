import { statSync } from 'node:fs';
import { didYouMean } from '../base/did-you-mean.ts';
import { UsageError } from '../base/errors.ts';
import type { CommandEntry, Commands } from './command.ts';

/** @throws UsageError for an unknown name: a folder may be a graph to start */
export function findCommand(commands: Commands, name: string): CommandEntry {
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (entry) return entry;
  if (statSync(name, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`${JSON.stringify(name)} is a folder, not a command; did you mean "crier start ${name}"?`);
  const names = Object.keys(commands);
  throw new UsageError(`unknown command "${name}"; commands are ${names.join(', ')}${didYouMean(name, names, 0.5)}`);
}
