import type { Sample } from '../../../loadtest/fanout/trial.ts';

export const MEBIBYTE = 2 ** 20;

/** A window of crier without losses. */
export function sample(change: Partial<Sample>): Sample {
  return {
    contender: 'crier-shared',
    sockets: 4000,
    isForAll: true,
    stalled: 0,
    outstanding: 4,
    messageBytes: 1900,
    expected: 1000,
    delivered: 1000,
    unequalSockets: 0,
    events: 100,
    wrongSizes: 0,
    closed: 0,
    durationMs: 1000,
    serverCpuMs: 500,
    serverKernelMs: 400,
    clientCpuMs: 500,
    p50Ms: 50,
    p99Ms: 100,
    peakResidentBytes: 110 * MEBIBYTE,
    stalledByCloseCode: {},
    lagP99Ms: 1,
    residentBeforeBytes: 100 * MEBIBYTE,
    residentBytes: 105 * MEBIBYTE,
    slowConsumers: 0,
    ...change,
  };
}
