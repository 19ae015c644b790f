import { checkServerIdentity } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import type { RedisOptions } from 'ioredis';
import { ConfigError } from '../../base/errors.ts';
import { ENVIRONMENT_NAMES } from '../setting-names.ts';
import type { SettingNames } from '../setting-names.ts';
import { hostInUrl } from './host-in-url.ts';

/** Where a node, a Sentinel or a server listens. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

export interface ClusterNode extends HostPort {
  /** Beside its address, the name that it announces (`cluster-announce-hostname`); undefined: none, or `host` is that name. */
  readonly hostname?: string | undefined;
}

/** One connection's end, for ioredis. */
export interface RedisTarget {
  /** Names it in logs and metrics: without credentials. */
  readonly label: string;
  /** Holds credentials: never logged. */
  readonly options: RedisOptions;
}

/** What REDIS_URL names. */
export type RedisAddress = { readonly kind: 'server' | 'sentinel'; readonly target: RedisTarget } | ClusterAddress;

export interface ClusterAddress {
  readonly kind: 'cluster';
  /** Nodes that are asked first; the cluster names the others. */
  readonly seeds: readonly HostPort[];
  /**
   * The target of any node.
   * @param hostname that the node announces; its certificate may have this name instead of the host. Called at each TLS handshake
   */
  readonly targetOf: (node: HostPort, hostname?: () => string | undefined) => RedisTarget;
}

/** `host:port`. */
export function addressText({ host, port }: HostPort): string {
  return `${hostInUrl(host)}:${port}`;
}

/** The forms of REDIS_URL, for messages. */
const REDIS_URL_FORMS =
  'redis://host:6379, redis+sentinel://host:26379,host:26379/name or redis+cluster://host:6379,host:6379 (rediss… for TLS)';

const URL_FORM = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^/?#]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/;
const HOST_FORM = /^(\[[0-9A-Fa-f:.]+\]|[^\s:[\]]+)(?::(\d{1,5}))?$/;
const SECRET_HINT = 'it is not shown: it may hold a password';
/** What comes before the hosts. */
const SCHEME_AND_CREDENTIALS = /^[^:]*:\/\/(?:[^@/]*@)?/;
const ENCODE = 'percent-encode user and password';
const UNENCODED = `expected one @ between the password and the host; ${ENCODE}`;
/** Of each form of URL. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  server: ['db', 'family'],
  sentinel: ['db', 'family', 'sentinelUsername', 'sentinelPassword'],
  cluster: ['family'],
};

/** Why a URL cannot be used. */
class UrlRefusal extends Error {}

/** @throws ConfigError; its message has no credentials */
export function parseRedisUrl(url: string, names: SettingNames = ENVIRONMENT_NAMES): RedisAddress {
  try {
    return parse(url, names);
  } catch (error) {
    if (!(error instanceof UrlRefusal)) throw error;
    throw new ConfigError(`${names.REDIS_URL}: ${error.message} (${SECRET_HINT})`);
  }
}

function parse(url: string, names: SettingNames): RedisAddress {
  if (/,\s*rediss?(?:\+\w+)?:\/\//.test(url)) {
    throw new UrlRefusal(
      `names several servers, and channels are spread over those of a Redis Cluster only: expected ${REDIS_URL_FORMS}`,
    );
  }
  if (url.replace(SCHEME_AND_CREDENTIALS, '').split('?', 1)[0]!.includes('@')) throw new UrlRefusal(UNENCODED);
  const [match, scheme, form = 'server', credentials, hosts, path = '', query = ''] = URL_FORM.exec(url) ?? [];
  if (match === undefined || hosts === undefined) throw new UrlRefusal(`expected ${REDIS_URL_FORMS}${schemeFix(url)}`);
  const nodes = hosts.split(',').map((host) => parseHost(host.trim(), form === 'sentinel' ? 26_379 : 6379));
  if (form === 'server' && nodes.length > 1) {
    throw new UrlRefusal('expected one server, or redis+cluster:// or redis+sentinel:// before several hosts');
  }
  const labels = nodes.map(addressText);
  if (new Set(labels).size < labels.length) throw new UrlRefusal(`expected different hosts among ${labels.join(', ')}`);
  const parameters = parseParameters(form, query, names);
  const common: RedisOptions = {
    ...parseCredentials(credentials),
    ...(scheme === 'rediss' && { tls: {} }),
    ...(parameters['family'] !== undefined && { family: wholeOf('family', parameters['family']) }),
  };
  if (form === 'cluster') {
    if (path !== '') throw new UrlRefusal('expected no path: a Redis Cluster has one database');
    return {
      kind: 'cluster',
      seeds: nodes,
      targetOf: ({ host, port }, hostname) => ({
        label: addressText({ host, port }),
        options: { ...common, host, port, ...(common.tls && hostname && { tls: tlsOf(hostname) }) },
      }),
    };
  }
  const [name = '', sentinelDb] = form === 'sentinel' ? path.split('/') : ['', path];
  const db = parameters['db'] ?? (sentinelDb === '' ? undefined : sentinelDb);
  const options = { ...common, ...(db !== undefined && { db: wholeOf('the database', db) }) };
  if (form === 'server') {
    const [node] = nodes as [HostPort];
    return { kind: 'server', target: { label: addressText(node), options: { ...options, ...node } } };
  }
  if (name === '') throw new UrlRefusal('expected the name of the primary after the Sentinels, as in …:26379/mymaster');
  const { sentinelUsername, sentinelPassword } = parameters;
  const sentinels: RedisOptions = {
    sentinels: nodes.map((node) => ({ ...node })),
    name: decode(name),
    ...(sentinelUsername !== undefined && { sentinelUsername }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(options.tls && { enableTLSForSentinelMode: true, sentinelTLS: options.tls }),
  };
  return { kind: 'sentinel', target: { label: decode(name), options: { ...options, ...sentinels } } };
}

/** What another program calls the address. It shows no more than the scheme. */
function schemeFix(url: string): string {
  const [, scheme] = /^([a-z][\w+.-]*):\/\//i.exec(url) ?? [];
  if (scheme === undefined) return '; write redis:// before the host';
  return /^rediss?(\+\w+)?$/.test(scheme) ? '' : `, got ${scheme}://; write redis:// in its place`;
}

/** TLS to a node whose certificate may have another name than that at which it is reached. */
function tlsOf(hostname: () => string | undefined): ConnectionOptions {
  return {
    checkServerIdentity: (host, certificate) => {
      const refusal = checkServerIdentity(host, certificate);
      const name = hostname();
      return refusal && name !== undefined ? checkServerIdentity(name, certificate) : refusal;
    },
  };
}

function parseHost(text: string, defaultPort: number): HostPort {
  const [match, host = '', port] = HOST_FORM.exec(text) ?? [];
  const number = port === undefined ? defaultPort : Number(port);
  if (match === undefined || number < 1 || number > 65_535) throw new UrlRefusal('expected host:port for each server');
  return { host: host.replace(/^\[|\]$/g, ''), port: number };
}

function parseCredentials(text = ''): Pick<RedisOptions, 'username' | 'password'> {
  const separator = text.indexOf(':');
  const username = decode(separator < 0 ? text : text.slice(0, separator));
  const password = separator < 0 ? '' : decode(text.slice(separator + 1));
  return { ...(username !== '' && { username }), ...(password !== '' && { password }) };
}

function parseParameters(form: string, query: string, names: SettingNames): Record<string, string> {
  const parameters = Object.fromEntries(new URLSearchParams(query));
  if ('keyPrefix' in parameters) {
    throw new UrlRefusal(`has a keyPrefix, which does not apply to channels; use ${names.CHANNEL_PREFIX} instead`);
  }
  if (Object.keys(parameters).some((name) => name.includes('@'))) throw new UrlRefusal(UNENCODED);
  const allowed = PARAMETERS[form]!;
  const unknown = Object.keys(parameters).filter((name) => !allowed.includes(name));
  if (unknown.length > 0) {
    throw new UrlRefusal(`has unknown parameters ${unknown.join(', ')}; it may have ${allowed.join(', ')}`);
  }
  return parameters;
}

function wholeOf(what: string, text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new UrlRefusal(`expected a number for ${what}`);
  return Number(text);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new UrlRefusal(`has a % that begins no escape; ${ENCODE}`);
  }
}
