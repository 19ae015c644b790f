import type { ChildProcess } from 'node:child_process';

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

export type Methods = Readonly<Record<string, (argument: never) => unknown>>;

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

/** Answers the parent's calls without keeping this process alive. The process exits when the parent disconnects. */
export function answerCalls(methods: Methods): void {
  const onCall = async ({ call, method, argument }: Call): Promise<Answer> => {
    try {
      return { answer: call, result: await methods[method]!(argument as never) };
    } catch (error) {
      return { answer: call, error: error instanceof Error ? error.message : String(error) };
    }
  };
  process.on('message', (message: Call) => void onCall(message).then((answer) => process.send?.(answer)));
  process.on('disconnect', () => process.exit(1));
  process.channel?.unref();
}
