import { isIPv6 } from 'node:net';
import type { Config } from './config.ts';

export interface BannerOptions {
  readonly config: Config;
  readonly graphName: string;
  /** Of GraphiQL and the endpoint; undefined where this pod has none (ROLE=worker). */
  readonly port: number | undefined;
  readonly adminPort: number;
  readonly operation: string;
}

/** What a person reads after `npm start`: what runs, what to open, and something to paste. */
export function banner({ config, graphName, port, adminPort, operation }: BannerOptions): string {
  const host = hostInUrl(config.HOST);
  const way = config.isEmbedded
    ? 'embedded: the graph’s samples are the records (KAFKA_BROKERS and REDIS_URL are not set)'
    : `ROLE=${config.ROLE}`;
  const lines = [`crier is up: graph "${graphName}", ${way}`, ''];
  if (port !== undefined) {
    if (config.GRAPHIQL) lines.push(`  GraphiQL    http://${host}:${port}/`);
    lines.push(
      `  WebSocket   ws://${host}:${port}/graphql   (graphql-transport-ws)`,
      `  HTTP        http://${host}:${port}/graphql`,
    );
  }
  lines.push(`  Admin       http://${host}:${adminPort}/healthz  /readyz  /metrics`, '');
  if (port !== undefined) lines.push('A subscription to start with:', '', operation.trim().replace(/^/gm, '  '), '');
  return `${lines.join('\n')}\n`;
}

/** Every address of the machine is not one that can be opened; IPv6 stands in brackets (RFC 3986 section 3.2.2). */
function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return isIPv6(host) ? `[${host}]` : host;
}
