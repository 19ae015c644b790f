/** Figures that AnyCable published on 2026-06-24 (github.com/anycable/nodejs-websocket-bench), on 32 vCPU with the load generators apart. */

export interface JitterFigures {
  readonly server: string;
  readonly clients: number;
  readonly deliveredPercent: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export const THEIR_JITTER: readonly JitterFigures[] = [
  jitter('Socket.io', 84.55, 106, 394, 1070, 1750),
  jitter('Socket.io, state recovery', 100, 148, 1970, 4580, 9710),
  jitter('uWebSockets.js', 87.03, 92, 720, 1720, 2950),
  jitter('AnyCable OSS', 100, 250, 4100, 6140, 9230),
  jitter('AnyCable Pro', 100, 261, 4100, 6150, 9360),
];

export interface AvalancheFigures {
  readonly deploy: string;
  readonly clients: number;
  readonly disconnected: number;
  /** Undefined if nobody was disconnected. */
  readonly halfBackMs: number | undefined;
  readonly mostBackMs: number | undefined;
  readonly neverBack: number;
}

export const THEIR_AVALANCHE: readonly AvalancheFigures[] = [
  {
    deploy: 'Socket.io, its server',
    clients: 5000,
    disconnected: 5000,
    halfBackMs: 4967,
    mostBackMs: 5992,
    neverBack: 189,
  },
  {
    deploy: 'AnyCable, the application',
    clients: 5000,
    disconnected: 0,
    halfBackMs: undefined,
    mostBackMs: undefined,
    neverBack: 0,
  },
];

export const IDLE_HEADINGS = ['server', 'connections', 'KB each'];

export const THEIR_IDLE: readonly (readonly string[])[] = [
  ['Socket.io on Node.js 22, in 6.3 GB', '119826', '53'],
  ['AnyCable OSS, in 32 GB', '993994', '33'],
  ['AnyCable Pro, in 19.3 GB', '999954', '19'],
];

function jitter(
  server: string,
  deliveredPercent: number,
  p50Ms: number,
  p95Ms: number,
  p99Ms: number,
  maxMs: number,
): JitterFigures {
  return { server, clients: 10_000, deliveredPercent, p50Ms, p95Ms, p99Ms, maxMs };
}
