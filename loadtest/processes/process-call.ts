import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Scope } from '../runner/scope.ts';
import { CLIENT_CORE, pinned } from './pinning.ts';

interface Call {
  readonly call: number;
  readonly method: string;
  readonly argument: unknown;
}

interface Answer {
  readonly answer: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** Methods with one argument at most, which a process answers over IPC. */
export type Methods = Readonly<Record<string, (argument: never) => unknown>>;

/** The methods of another process. */
export type Remote<M> = {
  readonly [Name in keyof M]: M[Name] extends (...argument: infer Argument) => infer Result
    ? (...argument: Argument) => Promise<Awaited<Result>>
    : never;
};

export interface RemoteProcess {
  readonly pid: number;
  /** Exit code or signal. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Sends SIGTERM, and SIGKILL after 5 s. */
  stop(): Promise<void>;
}

let calls = 0;

/** Calls a method of a child process that uses `answerCalls`. @throws Error of the method, or when the child has exited. */
export function callProcess<Result>(child: ChildProcess, method: string, argument?: unknown): Promise<Result> {
  return new Promise((resolve, reject) => {
    const call = ++calls;
    const done = () => {
      child.removeListener('message', onMessage);
      child.removeListener('exit', onEnd);
    };
    const onMessage = (message: Answer) => {
      if (message.answer !== call) return;
      done();
      if (message.error === undefined) resolve(message.result as Result);
      else reject(new Error(message.error));
    };
    const onEnd = () => {
      done();
      reject(new Error(`the process ended during "${method}"`));
    };
    child.on('message', onMessage);
    child.on('exit', onEnd);
    if (child.exitCode !== null || child.signalCode !== null) return onEnd();
    // The child may have exited unnoticed. The callback prevents an unhandled error event.
    child.send({ call, method, argument } satisfies Call, (error) => error && onEnd());
  });
}

/**
 * Answers the parent's calls. The process exits when the parent disconnects.
 * @param isProbe true: the calls do not keep the process alive
 */
export function answerCalls(methods: Methods, isProbe = false): void {
  const onCall = async ({ call, method, argument }: Call): Promise<Answer> => {
    try {
      return { answer: call, result: await methods[method]!(argument as never) };
    } catch (error) {
      return { answer: call, error: error instanceof Error ? error.message : String(error) };
    }
  };
  process.on('message', (message: Call) => void onCall(message).then((answer) => process.send?.(answer)));
  process.on('disconnect', () => process.exit(1));
  if (isProbe) process.channel?.unref();
}

/** A child process with its methods: what `own` lacks is called there. */
export function remoteOf<M extends Methods, Own extends object>(
  child: ChildProcess,
  own: Own,
): Remote<M> & RemoteProcess & Own {
  const ended = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? signal!)),
  );
  const all: Record<string | symbol, unknown> = { pid: child.pid, ended, stop: () => stopProcess(child), ...own };
  return new Proxy(all, {
    get: (target, name) => {
      // A promise of it must not look for a method of that name.
      if (name in target || typeof name === 'symbol' || name === 'then') return target[name];
      return (argument?: unknown) => callProcess(child, name, argument);
    },
  }) as Remote<M> & RemoteProcess & Own;
}

/** Starts a script of dist/loadtest that answers calls, on the clients' core. It ends with the scope. */
export function startRemote<M extends Methods>(
  script: string,
  scope: Pick<Scope, 'after'>,
  {
    core = CLIENT_CORE,
    nodeArguments = [],
  }: { readonly core?: number; readonly nodeArguments?: readonly string[] } = {},
): Remote<M> & RemoteProcess {
  const path = new URL(`../${script}`, import.meta.url).pathname;
  const [command, ...words] = pinned(core, [process.execPath, ...nodeArguments, path]);
  const child = spawn(command, words, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  scope.after(() => stopProcess(child));
  return remoteOf<M, object>(child, {});
}

/** Sends SIGTERM, and SIGKILL after 5 s. Resolves when the process has exited. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
  await gone;
  clearTimeout(timer);
}
