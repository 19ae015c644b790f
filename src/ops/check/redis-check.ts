import { setImmediate as nextTurn } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { HASH_TAGS } from '../../bus/redis/cluster/hash-tags.ts';
import { primaryOf, readSlotMap } from '../../bus/redis/cluster/slot-map.ts';
import type { SlotMap } from '../../bus/redis/cluster/slot-map.ts';
import { guardParser } from '../../bus/redis/guarded-parser.ts';
import type { RedisAccess } from '../../bus/redis/redis-access.ts';
import { addressText, parseRedisUrl } from '../../config/addresses/redis-address.ts';
import type { ClusterAddress, ClusterNode, RedisTarget } from '../../config/addresses/redis-address.ts';
import { describe } from '../../bus/redis/reply-error.ts';
import { redisFix } from '../../bus/redis/redis-fix.ts';
import { ENVIRONMENT_NAMES } from '../../config/setting-names.ts';
import { spokenAt } from './spoken-protocol.ts';
import { channelOfTemplate } from '../../graph/schema/channel-template.ts';
import type { ChannelTemplate } from '../../graph/schema/channel-template.ts';
import { failed, ok, skipped, warning } from './finding.ts';
import type { Finding } from './finding.ts';
import { requiredClusterCommands, requiredCommands } from './redis-rights.ts';
import type { RequiredCommand } from './redis-rights.ts';

/** Longest wait for a connection, and for each reply. */
const TIMEOUT_MS = 5000;

const OLDEST_VERSION = [6, 2] as const;
/** The first with sharded channels. */
const OLDEST_CLUSTER_VERSION = [7, 0] as const;

const SERVER_FIX = 'write redis:// (rediss:// for TLS) before one host in REDIS_URL';
const UNSERVED_SLOTS = 'Redis: no node serves some slots of the cluster; assign them (redis-cli --cluster fix)';
/** Where the certificate of a node that the cluster has named, not REDIS_URL, has another name. */
const NODE_NAME_FIX = 'set cluster-announce-hostname of this node to a name of its certificate';
const CLUSTER_DOWN =
  'Redis: the cluster reports that it is down (cluster_state); redis-cli --cluster check names the cause';

/**
 * Tries to connect to the Redis of REDIS_URL and to run every command that crier needs, without leaving a key.
 * @param access user, password and TLS files
 * @param plain channels of @redis
 */
export async function checkRedis(
  url: string,
  prefix: string,
  access: RedisAccess | undefined,
  plain: readonly ChannelTemplate[] = [],
): Promise<Finding[]> {
  const address = parseRedisUrl(url);
  if (address.kind === 'cluster') return checkCluster(address, access, prefix, plain);
  return checkTarget(address.target, access, [
    (client, server) => checkServer(client, server),
    (client, server) => checkRights(client, server, requiredCommands(prefix), prefix),
    (client, server) => checkPlainChannels(client, server, plain),
  ]);
}

/** By the first word of a reply that refuses commands whatever the rights are: the mend. */
const STATES: readonly (readonly [code: string, fix: string])[] = [
  ['OOM', 'raise its maxmemory, with maxmemory-policy noeviction'],
  ['MISCONF', 'its log says why it cannot save; correct that, or set stop-writes-on-bgsave-error no'],
  ['LOADING', 'wait until it has read its data'],
];

type Check = (client: Redis, server: string) => Promise<Finding | Finding[]>;

/** Connects to one server and runs the checks, one after the other. */
async function checkTarget(
  { label: server, options }: RedisTarget,
  access: RedisAccess | undefined,
  checks: readonly Check[],
  namesFix = '',
): Promise<Finding[]> {
  const client = new Redis({
    ...options,
    lazyConnect: true,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null,
    sentinelCommandTimeout: TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    disableClientInfo: true,
  });
  guardParser(client);
  access?.attach(client);
  let loss: Error | undefined;
  client.on('error', (error: Error) => (loss ??= error));
  try {
    await client.connect();
    // Without the right to PING the next checks name all that are missing.
    await client.ping().catch((error: Error) => {
      if (!/^NOPERM/.test(error.message)) throw error;
    });
    // Redis replies to PING after a refused password or database, too.
    await nextTurn();
    if (loss) throw loss;
  } catch (error) {
    client.disconnect();
    const reason = describe(loss ?? (error as Error));
    const fix = (/altnames/.test(reason) && namesFix) || (await fixOf(reason, options));
    return [
      failed(`Redis: no connection to ${server}: ${reason}; ${fix}`),
      skipped(`Redis: the rights on ${server} need a connection`),
    ];
  }
  try {
    const findings: Finding[] = [];
    for (const check of checks) {
      findings.push(...[await check(client, server)].flat());
      // Of another server the rights say nothing.
      if (findings.some(({ status }) => status === 'failed')) break;
    }
    return findings;
  } finally {
    client.disconnect();
  }
}

/** Asks the first node that answers for the others, and checks each primary. */
async function checkCluster(
  { seeds, targetOf }: ClusterAddress,
  access: RedisAccess | undefined,
  prefix: string,
  plain: readonly ChannelTemplate[],
): Promise<Finding[]> {
  const unanswered: Finding[] = [];
  for (const seed of seeds) {
    let map: SlotMap | undefined;
    const findings = await checkTarget(targetOf(seed), access, [
      async (client, server) => {
        try {
          map = await readSlotMap(client, seed);
          return [];
        } catch (error) {
          return failed(`Redis: ${server} is no node of a Redis Cluster: ${describe(error as Error)}; ${SERVER_FIX}`);
        }
      },
    ]);
    if (map) return [...unanswered, ...(await checkPrimaries(map, targetOf, access, prefix, plain))];
    unanswered.push(...findings);
  }
  return unanswered;
}

async function checkPrimaries(
  map: SlotMap,
  targetOf: ClusterAddress['targetOf'],
  access: RedisAccess | undefined,
  prefix: string,
  plain: readonly ChannelTemplate[],
): Promise<Finding[]> {
  const tags = new Map<string, { readonly node: ClusterNode; readonly tag: string }>();
  const missing = HASH_TAGS.filter(({ name: tag, slot }) => {
    const node = primaryOf(map, slot);
    if (node) tags.set(addressText(node), { node, tag });
    return !node;
  });
  const coverage = missing.length > 0 ? [failed(UNSERVED_SLOTS)] : map.epoch < 0 ? [warning(CLUSTER_DOWN)] : [];
  const findings = await Promise.all(
    Array.from(tags.values(), ({ node, tag }, i) =>
      checkTarget(
        targetOf(node, () => node.hostname),
        access,
        [
          (client, server) => checkNode(client, server),
          (client, server) => checkRights(client, server, requiredClusterCommands(`${tag}${prefix}`), prefix, tag),
          (client, server) => checkPlainChannels(client, server, i === 0 ? plain : []),
        ],
        NODE_NAME_FIX,
      ),
    ),
  );
  return [...coverage, ...findings.flat()];
}

async function fixOf(reason: string, { host, port, tls }: RedisTarget['options']): Promise<string> {
  const isSpoken = /timed? ?out|reset|closed|disconnected/i.test(reason) && host !== undefined && port !== undefined;
  switch (isSpoken ? await spokenAt({ host, port }) : undefined) {
    case 'redis':
      if (tls) return 'this server does not use TLS: write redis:// in REDIS_URL';
      break;
    case 'tls':
      if (!tls) return 'this server uses TLS: write rediss:// in REDIS_URL';
      break;
    case 'other':
      return 'no Redis answers there: correct host and port in REDIS_URL';
    case undefined:
  }
  const fix = redisFix(reason, tls !== undefined, ENVIRONMENT_NAMES);
  return fix === '' ? 'correct REDIS_URL (host, port, rediss:// for TLS), user and password, or the network' : fix;
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
    return failed(`Redis: ${server} is a node of a Redis Cluster; write redis+cluster:// in REDIS_URL`);
  }
  if (properties.includes('role') && read('role') === 'replica') {
    return failed(`Redis: ${server} is a replica; REDIS_URL must lead to the primary`);
  }
  return versionFinding(server, properties, OLDEST_VERSION);
}

async function checkNode(client: Redis, server: string): Promise<Finding> {
  const properties = (await client.call('hello').catch(() => [])) as unknown[];
  return versionFinding(server, properties, OLDEST_CLUSTER_VERSION);
}

type Version = readonly [major: number, minor: number];

function versionFinding(server: string, properties: readonly unknown[], oldest: Version): Finding {
  const version = properties.includes('version') ? String(properties[properties.indexOf('version') + 1]) : undefined;
  if (version !== undefined && isOlder(version, oldest)) {
    return failed(`Redis: ${server} has version ${version}; use ${oldest.join('.')} or later`);
  }
  return ok(`Redis: connected to ${server}${version === undefined ? '' : `, version ${version}`}`);
}

function isOlder(version: string, oldest: Version): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < oldest[0] || (major === oldest[0] && minor < oldest[1]);
}

/** @param tag of keys and channels in a Redis Cluster; '': it is none */
async function checkRights(
  client: Redis,
  server: string,
  commands: readonly RequiredCommand[],
  prefix: string,
  tag = '',
): Promise<Finding> {
  const channel = `${tag}${prefix}check`;
  const refusals = new Map<string, string>();
  for (const { name, arguments: rest } of commands) {
    // Only `pexpireat` deletes the hash.
    if (name === 'hset' && refusals.has('pexpireat')) continue;
    await client.call(name, ...rest).catch((error: Error) => note(refusals, name, error));
  }
  const subscriptions =
    tag === '' ? (['subscribe', 'unsubscribe'] as const) : (['ssubscribe', 'sunsubscribe'] as const);
  for (const name of subscriptions) {
    await client[name](channel).catch((error: Error) => note(refusals, name, error));
  }
  if (refusals.size === 0) return ok(`Redis: this user has the rights that crier needs on ${server}`);
  const reasons = Array.from(refusals, ([name, reason]) => `${name} (${reason})`).join(', ');
  const [state] = [...refusals.values()].filter((reason) => STATES.some(([code]) => reason.startsWith(code)));
  if (state !== undefined) {
    const [, fix] = STATES.find(([code]) => state.startsWith(code))!;
    return failed(`Redis: ${server} refuses ${[...refusals.keys()].join(', ')}: ${state}; ${fix}`);
  }
  const names = tag === '' ? `${prefix}*` : `{*}${prefix}*`;
  const fix = `grant them with ACL SETUSER: +${[...refusals.keys()].join(' +')} ~${names} &${names}`;
  return failed(`Redis: ${server} refuses commands that crier needs: ${reasons}; ${fix}`);
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
  const fix = `grant them with ACL SETUSER: ${[...refusals.keys()].join(' ')}`;
  return [failed(`Redis: ${server} refuses channels of @redis: ${reasons}; ${fix}`)];
}

/** Redis checks the rights before it runs a command. An unknown script is no refusal. */
function note(refusals: Map<string, string>, name: string, error: Error): void {
  if (!error.message.startsWith('NOSCRIPT')) refusals.set(name, describe(error));
}
