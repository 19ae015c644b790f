import { Redis } from 'ioredis';
import { describe } from '../bus/redis/redis-link.ts';
import { channelOfTemplate } from '../graph/schema/channel-template.ts';
import type { ChannelTemplate } from '../graph/schema/channel-template.ts';
import { failed, ok, skipped } from './finding.ts';
import type { Finding } from './finding.ts';
import { requiredCommands } from './redis-rights.ts';

/** Longest wait for a connection, and for each reply. */
const TIMEOUT_MS = 5000;

/** Major and minor. */
const OLDEST_VERSION = [6, 2] as const;

/**
 * Tries to connect to one server and to run every command that crier needs, without leaving a key.
 * @param plain channels of @redis that this server has
 */
export async function checkRedis(
  url: string,
  prefix: string,
  plain: readonly ChannelTemplate[] = [],
): Promise<Finding[]> {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    disableClientInfo: true,
  });
  const server = `${client.options.host}:${client.options.port}`;
  let loss: Error | undefined;
  client.on('error', (error: Error) => (loss ??= error));
  try {
    await client.connect();
    await client.ping();
  } catch (error) {
    client.disconnect();
    const mend = 'correct REDIS_URL (host, port, user, password, rediss:// for TLS), or the network';
    return [
      failed(`Redis: no connection to ${server}: ${describe(loss ?? (error as Error))}; ${mend}`),
      skipped(`Redis: the rights on ${server} need a connection`),
    ];
  }
  try {
    return [
      await checkServer(client, server),
      await checkRights(client, server, prefix),
      ...(await checkPlainChannels(client, server, plain)),
    ];
  } finally {
    client.disconnect();
  }
}

async function checkServer(client: Redis, server: string): Promise<Finding> {
  return serverFinding(server, (await client.call('hello').catch(() => [])) as unknown[]);
}

/**
 * @param server `host:port`
 * @param properties the reply to HELLO: names, each with its value after it; empty if the server refuses the command
 */
export function serverFinding(server: string, properties: readonly unknown[]): Finding {
  const read = (name: string) => properties[properties.indexOf(name) + 1];
  if (properties.includes('mode') && read('mode') === 'cluster') {
    const mend = 'name a Redis without cluster mode (cluster-enabled no), or several';
    return failed(`Redis: ${server} is a node of a Redis Cluster, which is not supported; ${mend}`);
  }
  const version = properties.includes('version') ? String(read('version')) : undefined;
  if (version !== undefined && isOlder(version)) {
    return failed(`Redis: ${server} has version ${version}; use ${OLDEST_VERSION.join('.')} or later`);
  }
  return ok(`Redis: connected to ${server}${version === undefined ? '' : `, version ${version}`}`);
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < OLDEST_VERSION[0] || (major === OLDEST_VERSION[0] && minor < OLDEST_VERSION[1]);
}

async function checkRights(client: Redis, server: string, prefix: string): Promise<Finding> {
  const channel = `${prefix}check`;
  const refusals = new Map<string, string>();
  for (const { name, arguments: rest } of requiredCommands(prefix)) {
    // Only `pexpireat` deletes the hash.
    if (name === 'hset' && refusals.has('pexpireat')) continue;
    await client.call(name, ...rest).catch((error: Error) => note(refusals, name, error));
  }
  for (const name of ['subscribe', 'unsubscribe'] as const) {
    await client[name](channel).catch((error: Error) => note(refusals, name, error));
  }
  if (refusals.size === 0) return ok(`Redis: this user has the rights that crier needs on ${server}`);
  const reasons = Array.from(refusals, ([name, reason]) => `${name} (${reason})`).join(', ');
  const mend = `grant them with ACL SETUSER: +${[...refusals.keys()].join(' +')} ~${prefix}* &${prefix}*`;
  return failed(`Redis: ${server} refuses commands that crier needs: ${reasons}; ${mend}`);
}

async function checkPlainChannels(
  client: Redis,
  server: string,
  templates: readonly ChannelTemplate[],
): Promise<Finding[]> {
  if (templates.length === 0) return [];
  const refusals = new Map<string, string>();
  for (const template of templates) {
    const pattern = `&${channelOfTemplate(template, () => '*')}`;
    const channel = channelOfTemplate(template, () => 'check');
    await client.subscribe(channel).catch((error: Error) => note(refusals, pattern, error));
  }
  if (refusals.size === 0) return [ok(`Redis: this user may subscribe to the channels of @redis on ${server}`)];
  const reasons = Array.from(refusals, ([pattern, reason]) => `${pattern.slice(1)} (${reason})`).join(', ');
  const mend = `grant them with ACL SETUSER: ${[...refusals.keys()].join(' ')}`;
  return [failed(`Redis: ${server} refuses channels of @redis: ${reasons}; ${mend}`)];
}

/** Redis checks the rights before it runs a command. An unknown script is no refusal. */
function note(refusals: Map<string, string>, name: string, error: Error): void {
  if (!error.message.startsWith('NOSCRIPT')) refusals.set(name, describe(error));
}
