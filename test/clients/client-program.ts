import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { untold } from './client.ts';
import type { Client, Subscription } from './client.ts';

/** Lines that a program reads: a subscription, or the end of one. */
type Command = { readonly id: number } & Partial<{ readonly query: string; readonly variables: object }>;

/** A line that a program writes. */
interface Report {
  readonly id: number;
  readonly data?: unknown;
  readonly errors?: readonly string[];
}

/** A client in a program of another language, which takes a line of JSON for each command and writes one for each result. */
export class ClientProgram implements Client {
  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #subscriptions: Subscription[] = [];
  #log = '';

  constructor(command: string, words: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    this.#process = spawn(command, words, {
      env: { PATH: process.env['PATH'], ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const kill = () => this.#process.kill('SIGKILL');
    process.once('exit', kill);
    this.#process.stderr.on('data', (chunk: Buffer) => (this.#log += chunk.toString()));
    this.#process.stdin.on('error', () => undefined);
    createInterface(this.#process.stdout).on('line', (line) => this.#keep(JSON.parse(line) as Report));
    this.#process.once('close', (code) => {
      process.removeListener('exit', kill);
      for (const { errors } of this.#subscriptions) errors.push(`${command} ended (${code}): ${this.#log}`);
    });
  }

  subscribe(query: string, variables: object): Subscription {
    const id = this.#subscriptions.length;
    const started = untold(() => this.#send({ id }));
    this.#subscriptions.push(started);
    this.#send({ id, query, variables });
    return started;
  }

  async close(): Promise<void> {
    this.#process.kill('SIGKILL');
    if (this.#process.exitCode === null && this.#process.signalCode === null)
      await new Promise((resolve) => this.#process.once('close', resolve));
  }

  #send(command: Command): void {
    this.#process.stdin.write(`${JSON.stringify(command)}\n`);
  }

  #keep({ id, data, errors }: Report): void {
    const told = this.#subscriptions[id]!;
    if (errors) told.errors.push(...errors);
    else told.events.push(data);
  }
}
