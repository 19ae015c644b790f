import { writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';

/** Short enough to see functions that take a millisecond, long enough not to distort the figures. */
const INTERVAL_US = 500;

/** V8's sampling profiler for this process. */
export class CpuProfiler {
  #session: Session | undefined;

  async start(): Promise<void> {
    const session = new Session();
    session.connect();
    this.#session = session;
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
    await session.post('Profiler.start');
  }

  /** Writes the profile since `start()` as a .cpuprofile. @throws Error when it was not started. */
  async stop(path: string): Promise<void> {
    const session = this.#session;
    if (!session) throw new Error('the profiler was not started');
    this.#session = undefined;
    const { profile } = await session.post('Profiler.stop');
    session.disconnect();
    await writeFile(path, JSON.stringify(profile));
  }
}
