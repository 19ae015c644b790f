#!/usr/bin/env node
import { SetupError, UsageError } from './base/errors.ts';
import { drained, exit } from './base/exit.ts';
import { standardError } from './base/standard-error.ts';
import { escapeHidden } from './base/visible.ts';
import { runCommand } from './tools/commands.ts';

/** The name of the command, and its arguments. */
function commandOf([word = 'start', ...rest]: readonly string[]): [name: string, ...args: string[]] {
  if (word === '-h' || word === '--help') return ['help', ...rest];
  if (word === '-v' || word === '--version') return ['version', ...rest];
  return word.startsWith('-') ? ['start', word, ...rest] : [word, ...rest];
}

/**
 * Keeps a standard stream from ending or blocking the server. Write errors of a stream without a reader are ignored, and writes to a
 * stopped terminal (Ctrl-S) are asynchronous, where Node's block.
 */
function releaseStandardStreams(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', () => undefined);
    const { _handle: handle } = stream as { _handle?: { setBlocking?(isBlocking: boolean): void } };
    if (stream.isTTY) handle?.setBlocking?.(false);
  }
}

async function main(): Promise<void> {
  const [name, ...args] = commandOf(process.argv.slice(2));
  const code = await runCommand(name, args);
  // A module of a graph may keep the process alive: exit explicitly.
  if (code !== undefined) await exit(code);
}

releaseStandardStreams();
main().catch((error: unknown) => {
  const { message, stack } = error as Error;
  // Messages may quote a server, a topic or a file.
  standardError.write(`crier: ${escapeHidden((error instanceof SetupError ? message : stack) ?? message)}\n`);
  const code = error instanceof UsageError ? 2 : 1;
  // A pod must end though nobody reads its log: `flush` waits for 3 s at most.
  standardError.flush(() => void drained(process.stdout).then(() => process.exit(code)));
});
