import { bearerToken, countOrAuto, oneOf, optionalBool, optionalMs, port, secret, text, tunable } from '../variable.ts';

export const podVariables = {
  ROLE: oneOf(
    ['all', 'worker', 'gateway'],
    'all',
    '"all", "worker" or "gateway"',
    'What this pod runs: `worker` (Kafka to Redis), `gateway` (Redis to clients), or `all`.',
  ),
  PROCESSES: countOrAuto(
    '1',
    'processes',
    'Gateway processes, beside one worker process with `ROLE=all`; `auto`: one a core; 1: everything in one process.',
    64,
  ),
  HOST: text('0.0.0.0', 'an address of this machine', 'Address that PORT listens on.'),
  PORT: port('4000', 'WebSocket and HTTP port; 0: a free one.'),
  ADMIN_HOST: text(
    '127.0.0.1',
    'an address of this machine',
    'Address that ADMIN_PORT listens on; in the image 0.0.0.0.',
  ),
  ADMIN_PORT: port('4001', 'Port of `/healthz`, `/readyz`, `/metrics`, `/live`, `/admin/…` and `/debug/…`.'),
  ADMIN_TOKEN: secret(
    bearerToken(
      'Token of `/admin/…`, `/debug/…` and the figures of `/live`, of at least 32 characters; not set: they are served if ADMIN_HOST is a loopback address.',
    ),
  ),
  EMBEDDED: optionalBool(
    'Whether to run without Kafka and Redis; not set: if neither is named, unless `NODE_ENV=production`.',
  ),
  GRAPH: text('', 'a folder with a schema.graphql', 'Graph folder; not set: the built-in auction graph.'),
  POD_NAME: text('', 'any text', "This pod's name in the log; not set: the host name."),
  LOG_LEVEL: tunable(
    oneOf(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'info',
      'trace, debug, info, warn, error, fatal or silent',
      'Least severe level logged: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
    ),
  ),
  LOG_FORMAT: oneOf(
    ['auto', 'json', 'text'],
    'auto',
    '"auto", "json" or "text"',
    '`json`: an object a line; `text`: for people; `auto`: text on a terminal, else JSON.',
  ),
  PROFILE_ON_EXIT: secret(
    text(
      '',
      'a directory, or an http:// or https:// URL',
      "Directory, or URL for a PUT, that gets a CPU profile of the pod's whole life at its end; not set: none.",
    ),
  ),
  TUNABLES_FILE: text(
    '',
    'the path of a JSON file',
    'JSON object of settings that may change while crier runs, read every 2 s; not set: none.',
  ),
  DRAIN_DELAY_MS: optionalMs(0, 'Time after SIGTERM in which the unready pod serves on; not set: 5000, embedded 0.'),
  DRAIN_SPREAD_MS: optionalMs(
    0,
    'Time after that over which open sockets are closed, in random order; not set: 20000, embedded 0.',
  ),
  SHUTDOWN_TIMEOUT_MS: optionalMs(
    100,
    'Longest time from SIGTERM to exit; not set: DRAIN_DELAY_MS + DRAIN_SPREAD_MS + 15000.',
  ),
};
