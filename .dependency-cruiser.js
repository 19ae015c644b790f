/** The rooms of src/, and what each may import of the others. */
const ROOMS = {
  base: [],
  config: ['base'],
  bus: ['base', 'config'],
  kafka: ['base', 'config', 'bus'],
  graph: ['base', 'config', 'bus'],
  gateway: ['base', 'config', 'bus', 'graph'],
  ops: ['base', 'config', 'bus', 'kafka', 'graph', 'gateway'],
  server: ['base', 'config', 'bus', 'kafka', 'graph', 'gateway', 'ops'],
  library: ['base', 'config', 'graph', 'gateway', 'server', 'server.ts'],
  tools: ['base', 'config', 'bus', 'kafka', 'graph', 'ops', 'server', 'server.ts', 'library'],
};

/** Of operations a room below may know types. */
const BELOW_OPS = ['bus', 'kafka', 'graph', 'gateway'];

const ROOM_RULES = Object.entries(ROOMS).map(([room, seen]) => ({
  name: `room-${room}`,
  severity: /** @type {const} */ ('error'),
  from: { path: `^src/${room}/` },
  to: {
    path: '^src/',
    pathNot: `^src/(${[room, ...seen, ...(BELOW_OPS.includes(room) ? ['ops'] : [])].join('|')})(/|$)`,
  },
}));

/**
 * What may import what in src/. Types count, too.
 *
 * @type {import('dependency-cruiser').IConfiguration}
 */
export default {
  forbidden: [
    {
      name: 'no-circle',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...ROOM_RULES,
    {
      name: 'types-of-operations',
      comment: 'Measures and traces are handed in by the server.',
      severity: 'error',
      from: { path: `^src/(${BELOW_OPS.join('|')})/` },
      to: { path: '^src/ops/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'one-kafka-client',
      comment: 'Its types count, too. Tests and benchmarks may use it as a client of their own.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/kafka/client/' },
      to: { path: '(^|/)node_modules/kafkajs/' },
    },
    {
      name: 'started-by-main',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(main\\.ts$|library/|tools/)' },
      to: { path: '^src/(main|server)\\.ts$' },
    },
    {
      name: 'src-alone',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(pages|test|loadtest|stack|scripts|examples)/' },
    },
    {
      name: 'client-alone',
      comment: 'It runs in browsers, and is a package of its own.',
      severity: 'error',
      from: { path: '^client/' },
      to: { path: '^(src|test|loadtest|stack|scripts)/' },
    },
    {
      name: 'pages-alone',
      comment: 'They run in browsers; of crier they know the client, and the types of what the server sends them.',
      severity: 'error',
      from: { path: '^pages/' },
      to: {
        path: '^(src|test|loadtest|stack|scripts)/',
        pathNot: '^src/(ops/live/stats|graph/schema/event-source-type)\\.ts$',
      },
    },
    {
      name: 'types-for-pages',
      severity: 'error',
      from: { path: '^src/(ops/live/stats|graph/schema/event-source-type)\\.ts$' },
      to: {},
    },
    {
      name: 'installed-with-crier',
      comment: 'The build bundles pages. graphql is a peer dependency, which a clone installs for development.',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'unknown', 'undetermined'],
        dependencyTypesNot: ['npm-peer'],
      },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
  },
};
