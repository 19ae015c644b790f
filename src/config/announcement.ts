import type { Config } from './config.ts';
import { hostInUrl } from './addresses/host-in-url.ts';

export interface AnnouncementOptions {
  readonly version: string;
  readonly config: Config;
  readonly graphName: string;
  /** Port of GraphiQL and the endpoint; undefined if this pod has neither (ROLE=worker). */
  readonly port: number | undefined;
  readonly adminPort: number;
  /** Of the graph: records of its own, for the embedded mode. */
  readonly hasSamples: boolean;
  readonly operation: string;
}

/** What a pod says once it has started. */
export interface Announcement {
  /** For a terminal: the role, the addresses, and an operation to paste. */
  readonly banner: string;
  /** Fields of the line `ready`, beside those of every line. */
  readonly facts: {
    readonly graph: string;
    readonly isEmbedded: boolean;
    readonly addresses: Readonly<Record<string, string>>;
  };
}

export function announcementOf(options: AnnouncementOptions): Announcement {
  const { config, graphName } = options;
  const addresses = addressesOf(options);
  return {
    banner: bannerOf(options, addresses),
    facts: { graph: graphName, isEmbedded: config.isEmbedded, addresses },
  };
}

/** URLs that can be opened, by what is there. */
function addressesOf({ config, port, adminPort }: AnnouncementOptions): Record<string, string> {
  const endpoint = `${hostInUrl(config.HOST)}:${port}`;
  return {
    ...(port !== undefined && {
      ...(config.GRAPHIQL && { graphiql: `http://${endpoint}/` }),
      websocket: `ws://${endpoint}/graphql`,
      http: `http://${endpoint}/graphql`,
    }),
    admin: `http://${hostInUrl(config.ADMIN_HOST)}:${adminPort}/`,
  };
}

function bannerOf(
  { version, config, graphName, port, hasSamples, operation }: AnnouncementOptions,
  { graphiql, websocket, http, admin }: Readonly<Record<string, string>>,
): string {
  const mode = config.isEmbedded
    ? `embedded: KAFKA_BROKERS and REDIS_URL are not set${hasSamples ? ', the graph’s samples are the records' : ''}`
    : `ROLE=${config.ROLE}${config.PROCESSES > 1 ? `, PROCESSES=${config.PROCESSES}` : ''}`;
  const lines = [`crier ${version} is up: graph "${graphName}", ${mode}`, ''];
  if (graphiql !== undefined) lines.push(`  GraphiQL    ${graphiql}`);
  if (port !== undefined) lines.push(`  WebSocket   ${websocket}   (graphql-transport-ws)`, `  HTTP        ${http}`);
  lines.push(`  Admin       ${admin}healthz  /readyz  /metrics  /live`, '');
  if (port !== undefined) lines.push('A subscription to start with:', '', operation.trim().replace(/^/gm, '  '), '');
  return `${lines.join('\n')}\n`;
}
