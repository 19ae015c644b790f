/**
 * What may import what in src/. Types count, too.
 *
 * @type {import('dependency-cruiser').IConfiguration}
 */
export default {
  forbidden: [
    {
      name: 'no-circle',
      comment:
        'The types that crier codegen writes know the loaders of context.ts, and these know the types of payloads.',
      severity: 'error',
      from: { pathNot: '^src/graphs/auction/(context|types)\\.ts$' },
      to: { circular: true },
    },
    {
      name: 'the-halves-meet-at-the-bus',
      comment: 'A worker serves no sockets, and a gateway reads no Kafka.',
      severity: 'error',
      from: { path: '^src/kafka/' },
      to: { path: '^src/(websocket|connections|operations|fanout|graph|context|http)/' },
    },
    {
      name: 'the-halves-meet-at-the-bus-2',
      severity: 'error',
      from: { path: '^src/(websocket|connections|operations|fanout|graph|context|http|bus|flow)/' },
      to: { path: '^src/kafka/' },
    },
    {
      name: 'downwards',
      comment: 'websocket → operations → fanout → graph → context; the bus and flow control know none of them.',
      severity: 'error',
      from: { path: '^src/(fanout|graph|context|bus|flow)/' },
      to: { path: '^src/(websocket|connections|operations|http|roles|embedded)/' },
    },
    {
      name: 'graph-below-fanout',
      severity: 'error',
      from: { path: '^src/(graph|context|bus|flow)/' },
      to: { path: '^src/fanout/' },
    },
    {
      name: 'context-below-graph',
      severity: 'error',
      from: { path: '^src/(context|bus|flow)/' },
      to: { path: '^src/graph/' },
    },
    {
      name: 'identity-knows-no-transport',
      comment: 'websocket and http → identity → context.',
      severity: 'error',
      from: { path: '^src/identity/' },
      to: { path: '^src/(websocket|http|fanout|kafka|graph|roles|embedded)/' },
    },
    {
      name: 'alone',
      comment: 'These are pure, or run elsewhere.',
      severity: 'error',
      from: { path: '^src/(json|flow|conformance)/' },
      to: { path: '^src/', pathNot: '^src/$1/' },
    },
    {
      name: 'composed-at-the-top',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/((server|main)\\.ts$|roles/|library/|cli/)' },
      to: { path: '^src/(roles/|server\\.ts$)' },
    },
    {
      name: 'src-alone',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(pages|test|loadtest|stack|scripts)/' },
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
        pathNot: '^src/(live/stats|graph/schema/event-source)\\.ts$',
      },
    },
    {
      name: 'types-for-pages',
      severity: 'error',
      from: { path: '^src/(live/stats|graph/schema/event-source)\\.ts$' },
      to: {},
    },
    {
      name: 'installed-with-crier',
      comment: 'The build bundles pages.',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'unknown', 'undetermined'] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
  },
};
