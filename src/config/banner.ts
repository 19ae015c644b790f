import type { Config } from './config.ts';
import { hostInUrl } from './addresses/host-in-url.ts';

export interface BannerOptions {
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

/** The text that `npm start` prints: the role, the addresses, and an operation to paste. */
export function banner({ version, config, graphName, port, adminPort, hasSamples, operation }: BannerOptions): string {
  const host = hostInUrl(config.HOST);
  const adminHost = hostInUrl(config.ADMIN_HOST);
  const mode = config.isEmbedded
    ? `embedded: KAFKA_BROKERS and REDIS_URL are not set${hasSamples ? ', the graph’s samples are the records' : ''}`
    : `ROLE=${config.ROLE}${config.PROCESSES > 1 ? `, PROCESSES=${config.PROCESSES}` : ''}`;
  const lines = [`crier ${version} is up: graph "${graphName}", ${mode}`, ''];
  if (port !== undefined) {
    if (config.GRAPHIQL) lines.push(`  GraphiQL    http://${host}:${port}/`);
    lines.push(
      `  WebSocket   ws://${host}:${port}/graphql   (graphql-transport-ws)`,
      `  HTTP        http://${host}:${port}/graphql`,
    );
  }
  lines.push(`  Admin       http://${adminHost}:${adminPort}/healthz  /readyz  /metrics  /live`, '');
  if (port !== undefined) lines.push('A subscription to start with:', '', operation.trim().replace(/^/gm, '  '), '');
  return `${lines.join('\n')}\n`;
}
