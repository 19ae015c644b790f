import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapSpaceStatistics, writeHeapSnapshot } from 'node:v8';
import { heapUsed } from '../../src/ops/memory/heap-limit.ts';
import { answerCalls } from '../processes/process-call.ts';
import { CpuProfiler } from './cpu-profiler.ts';
import { HeapGauge } from './heap-gauge.ts';
import type { HeapReading } from './heap-gauge.ts';
import { WriteGauge } from './write-gauge.ts';
import type { Write } from './write-gauge.ts';

/** Figures of the server's process. */
export interface ProbeReport {
  /** 99th percentile of a timer's delay since the last `reset`, in ms. */
  readonly lagP99Ms: number;
  readonly residentBytes: number;
  /** Resident memory of V8's young generation. */
  readonly youngBytes: number;
  /** The heap without the young generation, garbage included. */
  readonly heapBytes: number;
}

const RESOLUTION_MS = 10;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delays.enable();
let gauge: HeapGauge | undefined;
let writeGauge: WriteGauge | undefined;
const profiler = new CpuProfiler();

/** Preloaded into servers under measurement (`--expose-gc --import`). */
const probe = {
  /** Collects garbage, so that RSS is that of live memory. */
  collect: () => {
    const { gc } = globalThis as { gc?: () => void };
    gc?.();
    gc?.();
  },
  reset: () => void delays.reset(),
  report: (): ProbeReport => ({
    // The histogram counts the timer's whole interval.
    lagP99Ms: Math.max(0, delays.percentile(99) / 1e6 - RESOLUTION_MS),
    residentBytes: process.memoryUsage.rss(),
    youngBytes: getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')!.physical_space_size,
    heapBytes: heapUsed(),
  }),
  startCpuProfile: () => profiler.start(),
  stopCpuProfile: (path: string) => profiler.stop(path),
  /** Collects garbage first and blocks the process for seconds. */
  writeHeapSnapshot: (path: string) => void writeHeapSnapshot(path),
  /** The first call creates the gauge, so that servers without a reader pay nothing. */
  readHeap: (): HeapReading => (gauge ??= new HeapGauge()).read(),
  /** Writes of results that contain `marker` since the last call. The first call starts the recording. */
  readWrites: (marker: string): Write[] => (writeGauge ??= new WriteGauge(marker)).read(),
};
export type Probe = typeof probe;
answerCalls(probe, true);
