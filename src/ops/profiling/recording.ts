import { Session } from 'node:inspector/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** Sampling interval in microseconds, V8's default. */
const CPU_INTERVAL_US = 1000;
/** Bytes between two samples of allocations: 4,000 samples/s at 500 MB/s, and all are kept until the end. */
const ALLOCATION_INTERVAL_BYTES = 131_072;
/** Elements of a list that are turned into text in one turn of the event loop. */
const CHUNK = 2000;

/**
 * Samples the CPU for `ms`. Returns the text of a `.cpuprofile`, in pieces.
 * @throws the signal's reason when it is aborted; the sampling ends, too
 */
export function recordCpu(ms: number, signal: AbortSignal): Promise<Iterable<string>> {
  return withSession(async (session) => {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: CPU_INTERVAL_US });
    await session.post('Profiler.start');
    await pause(ms, signal);
    const { profile } = await session.post('Profiler.stop');
    return jsonPieces(profile);
  });
}

/**
 * Samples allocations for `ms`. Returns the text of a `.heapprofile`, in pieces.
 * @throws the signal's reason when it is aborted; the sampling ends, too
 */
export function recordAllocations(ms: number, signal: AbortSignal): Promise<Iterable<string>> {
  return withSession(async (session) => {
    await session.post('HeapProfiler.enable');
    await session.post('HeapProfiler.startSampling', {
      samplingInterval: ALLOCATION_INTERVAL_BYTES,
      // Otherwise only objects that are still alive at the end count.
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
    await pause(ms, signal);
    const { profile } = await session.post('HeapProfiler.stopSampling');
    return jsonPieces(profile);
  });
}

/** A session of its own, which opens no port. Its end stops what it records. */
async function withSession<T>(use: (session: Session) => Promise<T>): Promise<T> {
  const session = new Session();
  session.connect();
  try {
    return await use(session);
  } finally {
    session.disconnect();
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal, ref: false });
}

/** The JSON text of an object whose lists may be long. */
function* jsonPieces(value: object): Generator<string> {
  let separator = '{';
  for (const [key, item] of Object.entries(value) as [string, unknown][]) {
    yield `${separator}${JSON.stringify(key)}:`;
    separator = ',';
    if (!Array.isArray(item)) {
      yield JSON.stringify(item);
      continue;
    }
    for (let from = 0; from < item.length; from += CHUNK) {
      const text = JSON.stringify(item.slice(from, from + CHUNK)).slice(1, -1);
      yield `${from === 0 ? '[' : ','}${text}`;
    }
    yield item.length === 0 ? '[]' : ']';
  }
  yield separator === '{' ? '{}' : '}';
}
