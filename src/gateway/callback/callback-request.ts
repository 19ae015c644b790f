import { isCallbackAllowed } from '../../config/addresses/callback-url.ts';

/** What a router asks for in `extensions.subscription`. */
export interface CallbackRequest {
  readonly url: URL;
  readonly id: string;
  /** A secret of the router: each post has it, no log. */
  readonly verifier: string;
  /** 0: the router asks for none. */
  readonly heartbeatMs: number;
}

const MAX_URL_LENGTH = 2048;
const MAX_VERIFIER_LENGTH = 1024;
/** As servers assume for routers that name none. */
const DEFAULT_HEARTBEAT_MS = 5000;
/** Of a client's choice, and posted for as long as the router accepts it. */
const MIN_HEARTBEAT_MS = 1000;
/** The largest Int of GraphQL. */
const MAX_HEARTBEAT_MS = 2 ** 31 - 1;

/**
 * What the extension asks for, or a text that says what is wrong with it.
 * @param prefixes where URLs of callbacks may begin
 */
export function callbackRequestOf(
  extension: unknown,
  prefixes: readonly string[],
  maxIdBytes: number,
): CallbackRequest | string {
  if (typeof extension !== 'object' || extension === null)
    return 'The callback protocol needs extensions.subscription, an object with callbackUrl, subscriptionId and verifier';
  const {
    callbackUrl,
    subscriptionId: id,
    verifier,
    heartbeatIntervalMs: heartbeatMs = DEFAULT_HEARTBEAT_MS,
  } = extension as Readonly<Record<string, unknown>>;
  if (!isText(id) || Buffer.byteLength(id) > maxIdBytes)
    return `extensions.subscription.subscriptionId must be a text of 1 to ${maxIdBytes} bytes`;
  if (!isText(verifier) || verifier.length > MAX_VERIFIER_LENGTH)
    return `extensions.subscription.verifier must be a text of 1 to ${MAX_VERIFIER_LENGTH} characters`;
  if (!isHeartbeat(heartbeatMs))
    return `extensions.subscription.heartbeatIntervalMs must be 0 or a whole number of ${MIN_HEARTBEAT_MS} to ${MAX_HEARTBEAT_MS}`;
  const url = isText(callbackUrl) && callbackUrl.length <= MAX_URL_LENGTH ? parsed(callbackUrl) : undefined;
  if (!url)
    return `extensions.subscription.callbackUrl must be an http:// or https:// URL of at most ${MAX_URL_LENGTH} characters, without user and password`;
  if (!isCallbackAllowed(url, prefixes))
    return `extensions.subscription.callbackUrl is not allowed: no entry of the server's setting CALLBACK_URLS is where ${url.origin}${url.pathname} begins`;
  return { url, id, verifier, heartbeatMs };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isHeartbeat(value: unknown): value is number {
  if (!Number.isInteger(value)) return false;
  return value === 0 || ((value as number) >= MIN_HEARTBEAT_MS && (value as number) <= MAX_HEARTBEAT_MS);
}

function parsed(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' ? url : undefined;
}
