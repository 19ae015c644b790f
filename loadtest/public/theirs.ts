/** Figures that AnyCable published on 2026-06-24 (github.com/anycable/nodejs-websocket-bench), on 32 vCPU with the load generators apart. */
export const JITTER_HEADINGS = [
  'server',
  'clients',
  'published',
  'delivered',
  'duplicates',
  'p50',
  'p95',
  'p99',
  'max',
];

export const THEIR_JITTER: readonly (readonly string[])[] = [
  ['Socket.io', '10000', '', '84.550 %', '', '106 ms', '394 ms', '1.07 s', '1.75 s'],
  ['Socket.io, state recovery', '10000', '', '100.000 %', '', '148 ms', '1.97 s', '4.58 s', '9.71 s'],
  ['uWebSockets.js', '10000', '', '87.030 %', '', '92 ms', '0.72 s', '1.72 s', '2.95 s'],
  ['AnyCable OSS', '10000', '', '100.000 %', '', '250 ms', '4.10 s', '6.14 s', '9.23 s'],
  ['AnyCable Pro', '10000', '', '100.000 %', '', '261 ms', '4.10 s', '6.15 s', '9.36 s'],
];

export const AVALANCHE_HEADINGS = [
  'deploy',
  'clients',
  'disconnected',
  'half back',
  '95 % back',
  'all back',
  'longest away',
  'CPU of the new gateway',
  'CPU of the clients',
  'never back',
  'lost events',
];

export const THEIR_AVALANCHE: readonly (readonly string[])[] = [
  ['Socket.io, its server', '5000', '5000', '4.97 s', '5.99 s', '', '', '', '', '189', ''],
  ['AnyCable, the application', '5000', '0', '', '', '', '', '', '', '0', ''],
];

export const IDLE_HEADINGS = ['server', 'connections', 'KB each'];

export const THEIR_IDLE: readonly (readonly string[])[] = [
  ['Socket.io on Node.js 22, in 6.3 GB', '119826', '53'],
  ['AnyCable OSS, in 32 GB', '993994', '33'],
  ['AnyCable Pro, in 19.3 GB', '999954', '19'],
];
