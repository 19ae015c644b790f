import { bearerToken, countOrAuto, oneOf, optionalBool, optionalMs, port, secret, text, tunable } from '../variable.ts';

export const podVariables = {
  ROLE: oneOf(
    ['all', 'worker', 'gateway'],
    'all',
    '"all", "worker" or "gateway"',
    'Which half of the path this pod runs: `worker` (from Kafka to Redis), `gateway` (from Redis to clients), or `all`.',
  ),
  PROCESSES: countOrAuto(
    '1',
    'processes',
    'Gateway processes of this pod, beside one worker process with `ROLE=all`; `auto`: one for each core that the pod may use. 1: everything in one process.',
    64,
  ),
  HOST: text('0.0.0.0', 'an address of this machine', 'Address that PORT listens on.'),
  PORT: port('4000', 'WebSocket and HTTP port; 0 takes a free one.'),
  ADMIN_HOST: text(
    '127.0.0.1',
    'an address of this machine',
    'Address that ADMIN_PORT listens on; the image sets 0.0.0.0.',
  ),
  ADMIN_PORT: port('4001', 'Port of `/healthz`, `/readyz`, `/metrics`, `/live`, `/admin/…` and `/debug/…`.'),
  ADMIN_TOKEN: secret(
    bearerToken(
      'Token that `/admin/…`, `/debug/…` and the figures of `/live` need, of at least 32 characters; not set: they are served if ADMIN_HOST is a loopback address.',
    ),
  ),
  EMBEDDED: optionalBool(
    'Whether to run without Kafka and Redis; not set: if neither is named, but not with `NODE_ENV=production`.',
  ),
  GRAPH: text('', 'a folder with a schema.graphql', 'The graph folder; not set: the built-in auction graph.'),
  POD_NAME: text('', 'any text', "This pod's name in the log; not set: the host name."),
  LOG_LEVEL: tunable(
    oneOf(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'info',
      'trace, debug, info, warn, error, fatal or silent',
      'Least severe level that is logged: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
    ),
  ),
  LOG_FORMAT: oneOf(
    ['auto', 'json', 'text'],
    'auto',
    '"auto", "json" or "text"',
    'How the log is written: `json`, an object a line; `text`, for people; `auto`: text on a terminal, else JSON.',
  ),
  PROFILE_ON_EXIT: secret(
    text(
      '',
      'a directory, or an http:// or https:// URL',
      'Where a CPU profile of the whole life of the pod goes when it ends: a directory, or a URL that takes it by PUT; not set: none is recorded.',
    ),
  ),
  TUNABLES_FILE: text(
    '',
    'the path of a JSON file',
    'Settings that may change while crier runs: a JSON object, read every 2 s; not set: none.',
  ),
  DRAIN_DELAY_MS: optionalMs(
    0,
    'After SIGTERM, how long the pod is unready and serves on, while load balancers notice; not set: 5000, and 0 embedded.',
  ),
  DRAIN_SPREAD_MS: optionalMs(
    0,
    'Time after that over which the open sockets are closed, evenly and in random order; not set: 20000, and 0 embedded.',
  ),
  SHUTDOWN_TIMEOUT_MS: optionalMs(
    100,
    'After SIGTERM, the longest time until exit; not set: DRAIN_DELAY_MS + DRAIN_SPREAD_MS + 15000.',
  ),
};
