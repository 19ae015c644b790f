import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { messagesOf, untold } from './client.ts';
import type { Client } from './client.ts';
import { RemoteClient } from './remote-client.ts';
import type { Report } from './remote-client.ts';

type Environment = Readonly<Record<string, string>>;

/** A program that takes a line of JSON for each command, and writes one for each report. */
export function clientProgram(command: string, words: readonly string[], environment: Environment = {}): Client {
  const program = start(command, words, environment);
  const client = new RemoteClient((sent) => void program.stdin.write(`${JSON.stringify(sent)}\n`), program.end);
  program.onLine((line) => client.keep(JSON.parse(line) as Report));
  program.onEnd((code, log) => client.fail(`${command} ended (${code}): ${log}`));
  return client;
}

/** What a line of a program says; undefined: nothing. */
export type Told =
  | { readonly data?: unknown; readonly errors?: unknown; readonly refused?: string }
  | { readonly isComplete: true }
  | undefined;

/**
 * A program for each subscription, which takes it as its arguments and prints what it receives.
 * @param read what a line of it says. Default: each is a result, and it ends with the subscription
 */
export function programForEach(
  wordsOf: (query: string, variables: object) => readonly string[],
  environment: Environment = {},
  read: ((line: string) => Told) | undefined = undefined,
): Client {
  const ends = new Set<() => Promise<void>>();
  return {
    subscribe: (query, variables) => {
      const of = untold(() => void end());
      const [command, ...words] = wordsOf(query, variables);
      const program = start(command!, words, environment);
      const end = program.end;
      ends.add(end);
      program.onLine((line) => {
        const told = read ? read(line) : (JSON.parse(line) as Told);
        if (!told) return;
        if ('isComplete' in told) of.isComplete = true;
        else if (told.refused) of.errors.push(told.refused);
        else if (told.errors) of.errors.push(...messagesOf(told.errors));
        else of.events.push(told.data);
      });
      program.onEnd((code, log) => {
        if (code === 0 && !read) of.isComplete = true;
        else if (!of.isComplete) of.errors.push(`${command} ended (${code}): ${log}`);
      });
      return of;
    },
    close: () => Promise.all(Array.from(ends, (end) => end())),
  };
}

function start(command: string, words: readonly string[], environment: Environment) {
  const child = spawn(command, words, {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  let log = '';
  let isEnding = false;
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  child.stdin.on('error', () => undefined);
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  void closed.then(() => process.removeListener('exit', kill));
  return {
    stdin: child.stdin,
    /** Not called for what a program that is ended had not written whole. */
    onLine: (listener: (line: string) => void) =>
      void createInterface(child.stdout).on('line', (line) => {
        if (!isEnding) listener(line);
      }),
    /** It has ended by itself. */
    onEnd: (listener: (code: number | null, log: string) => void) =>
      void closed.then((code) => {
        if (!isEnding) listener(code, log);
      }),
    end: async () => {
      isEnding = true;
      kill();
      await closed;
    },
  };
}
