import { writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';

/** V8's counts of executed blocks for this process. Blocks of functions that were compiled before `start()` are not counted. */
export class ExecutionCounter {
  #session: Session | undefined;

  async start(): Promise<void> {
    const session = new Session();
    session.connect();
    this.#session = session;
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** Writes the counts since the last call as JSON. @throws Error when it was not started. */
  async write(path: string): Promise<void> {
    if (!this.#session) throw new Error('executions are not counted: start the process with --log-ic');
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    await writeFile(path, JSON.stringify(result));
  }
}
