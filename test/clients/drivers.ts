import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installBrowser } from './browsers.ts';
import type { StartClient } from './client.ts';
import {
  apolloOverMultipart,
  crierClient,
  graphqlSse,
  installApollo,
  installUrql,
  overSink,
  overSocket,
  urqlOverEvents,
} from './javascript-clients.ts';
import { COLUMNS } from './matrix.ts';
import type { Column } from './matrix.ts';
import { installEventSource, installGraphqlRequest } from './packaged-clients.ts';
import {
  installCurl,
  installGo,
  installGoClient,
  installGql,
  installJava,
  installPython,
  installSpring,
} from './programs.ts';
import { installRelay } from './relay.ts';

/** A client as the matrix runs it. */
export interface Driver {
  /** As the page names it. */
  readonly name: string;
  /** Of what is installed. */
  readonly version: () => string;
  /** Debian installs it, in its newest version. */
  readonly isOfMachine?: true;
  readonly transport: 'WebSocket' | 'events' | 'multipart' | 'HTTP';
  /** Installs the client and returns what starts it. */
  readonly install: () => StartClient | Promise<StartClient>;
  /** Why it is not put through some of the columns. */
  readonly reasons?: Partial<Readonly<Record<Column, string>>>;
}

const FIXTURES = join('test', 'clients', 'fixtures');

const versionIn = (file: string, pattern: RegExp) => () => pattern.exec(readFileSync(file, 'utf8'))![1]!;
const packageVersion = (name: string, folder = '.') =>
  versionIn(join(folder, 'package.json'), new RegExp(`"${name}": "(.+)"`));
const ownVersion = (name: string) => packageVersion(name, join(FIXTURES, 'javascript'));
const gqlVersion = versionIn(join(FIXTURES, 'gql', 'requirements.txt'), /^gql==(.+)$/m);
const crierVersion = () => 'of this release';
const printedVersion =
  (command: string, pattern: RegExp, word = '--version') =>
  () =>
    pattern.exec(execFileSync(command, [word], { encoding: 'utf8' }))![1]!;
const chromiumVersion = printedVersion('chromium', /Chromium ([\d.]+)/);
/** `dpkg` knows: the browser needs a display to say it. */
const webKitVersion = () =>
  execFileSync('dpkg-query', ['-W', '-f=${Version}', 'webkit2gtk-driver'], { encoding: 'utf8' }).split('-', 1)[0]!;

const NOT_OVER_HTTP = { '1012': 'crier ends no stream so: it answers the request' };
const NO_SUBSCRIPTIONS = Object.fromEntries(
  COLUMNS.filter((column) => column !== 'receives').map((column) => [column, 'has queries and mutations only']),
);

export const DRIVERS: readonly Driver[] = [
  {
    name: '@crier/client',
    version: crierVersion,
    transport: 'WebSocket',
    install: () => crierClient,
  },
  {
    name: 'graphql-ws',
    version: packageVersion('graphql-ws'),
    transport: 'WebSocket',
    install: () => overSocket(() => Promise.resolve(overSink)),
  },
  {
    name: 'Apollo Client',
    version: packageVersion('@apollo/client'),
    transport: 'WebSocket',
    install: () => overSocket(installApollo),
  },
  {
    name: 'Apollo Client',
    version: packageVersion('@apollo/client'),
    transport: 'multipart',
    install: () => apolloOverMultipart,
    reasons: NOT_OVER_HTTP,
  },
  {
    name: 'urql',
    version: packageVersion('@urql/core'),
    transport: 'WebSocket',
    install: () => overSocket(installUrql),
  },
  {
    name: 'urql',
    version: packageVersion('@urql/core'),
    transport: 'events',
    install: () => urqlOverEvents,
    reasons: NOT_OVER_HTTP,
  },
  {
    name: 'relay-runtime',
    version: packageVersion('relay-runtime', join(FIXTURES, 'relay')),
    transport: 'WebSocket',
    install: () => overSocket(installRelay),
  },
  {
    name: 'graphql-sse',
    version: packageVersion('graphql-sse'),
    transport: 'events',
    install: () => graphqlSse(false),
    reasons: NOT_OVER_HTTP,
  },
  {
    name: 'graphql-sse in singleConnection',
    version: packageVersion('graphql-sse'),
    transport: 'events',
    install: () => graphqlSse(true),
    reasons: NOT_OVER_HTTP,
  },
  {
    name: 'eventsource',
    version: ownVersion('eventsource'),
    transport: 'events',
    install: installEventSource,
    reasons: NOT_OVER_HTTP,
  },
  {
    name: 'graphql-request',
    version: ownVersion('graphql-request'),
    transport: 'HTTP',
    install: installGraphqlRequest,
    reasons: NO_SUBSCRIPTIONS,
  },
  {
    name: 'graphql-ws in Chromium',
    version: chromiumVersion,
    isOfMachine: true,
    transport: 'WebSocket',
    install: () => installBrowser('Chromium', 'graphql-ws'),
  },
  {
    name: 'EventSource in Chromium',
    version: chromiumVersion,
    isOfMachine: true,
    transport: 'events',
    install: () => installBrowser('Chromium', 'EventSource'),
    reasons: NOT_OVER_HTTP,
  },
  {
    name: 'graphql-ws in WebKitGTK',
    version: webKitVersion,
    isOfMachine: true,
    transport: 'WebSocket',
    install: () => installBrowser('WebKit', 'graphql-ws'),
  },
  {
    name: 'EventSource in WebKitGTK',
    version: webKitVersion,
    isOfMachine: true,
    transport: 'events',
    install: () => installBrowser('WebKit', 'EventSource'),
    reasons: NOT_OVER_HTTP,
  },
  {
    name: 'Python: gql over websockets',
    version: gqlVersion,
    transport: 'WebSocket',
    install: () => installGql('websockets'),
  },
  {
    name: 'Python: gql over aiohttp',
    version: gqlVersion,
    transport: 'WebSocket',
    install: () => installGql('aiohttp'),
  },
  {
    name: 'Python: gql over aiohttp',
    version: gqlVersion,
    transport: 'multipart',
    install: () => installGql('multipart'),
    reasons: NOT_OVER_HTTP,
  },
  {
    name: 'Python: clients/python',
    version: crierVersion,
    transport: 'WebSocket',
    install: installPython,
  },
  {
    name: 'Go: go-graphql-client',
    version: versionIn(join(FIXTURES, 'go-graphql-client', 'go.mod'), /go-graphql-client v(.+)/),
    transport: 'WebSocket',
    install: installGoClient,
  },
  {
    name: 'Go: clients/go',
    version: crierVersion,
    transport: 'WebSocket',
    install: installGo,
  },
  {
    name: 'Java: clients/java',
    version: crierVersion,
    transport: 'WebSocket',
    install: installJava,
  },
  {
    name: 'Java: Spring for GraphQL',
    version: versionIn(join(FIXTURES, 'spring', 'pom.xml'), /spring-graphql<\/artifactId>\s*<version>(.+)</),
    transport: 'WebSocket',
    install: installSpring,
  },
  {
    name: 'curl',
    version: printedVersion('curl', /^curl ([\d.]+)/),
    isOfMachine: true,
    transport: 'events',
    install: installCurl,
    reasons: NOT_OVER_HTTP,
  },
];
