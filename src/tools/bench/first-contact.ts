import { handshake } from '../conformance/handshake.ts';
import { TRANSPORT_WS } from '../conformance/message.ts';
import { closeText, openSocket } from '../conformance/socket.ts';
import type { Closing, Socket } from '../conformance/socket.ts';
import { SetupError } from '../../base/errors.ts';
import type { Bench } from './arguments.ts';

/** The sub-protocol of subscriptions-transport-ws. */
const LEGACY = 'graphql-ws';

const NO_TRUST =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT.*)$/;

/** Connects once, as rows and sockets of the fan-out will. @throws SetupError that says why this cannot work, and the fix */
export async function meet(bench: Bench): Promise<void> {
  const { url, headers, connectionParams, timeoutMs } = bench;
  const offer = { ...headers, 'sec-websocket-protocol': TRANSPORT_WS };
  const answer = await handshake(url, offer, timeoutMs).catch((error: unknown) => {
    throw new SetupError(`cannot connect to ${url}: ${reasonOf(error as NodeJS.ErrnoException, url)}`);
  });
  if (answer.status !== 101) throw new SetupError(`${url} refused the WebSocket: ${refusalOf(answer.status)}`);
  if (answer.headers['sec-websocket-protocol'] !== TRANSPORT_WS) {
    if (await speaksLegacy(bench)) throw new SetupError(legacyText(url));
    throw new SetupError(
      `${url} is a WebSocket, but did not select the sub-protocol ${TRANSPORT_WS}; is this the path of its GraphQL endpoint?`,
    );
  }
  await withSocket(bench, TRANSPORT_WS, async (socket) => {
    try {
      await socket.init(connectionParams);
    } catch (error) {
      // Some servers select whatever a client offers.
      if (await speaksLegacy(bench)) throw new SetupError(legacyText(url), { cause: error });
      if (socket.isOpen)
        throw new SetupError(`${url} does not acknowledge: ${(error as Error).message}`, { cause: error });
      const closing = await socket.expectClose();
      throw new SetupError(`${url} refused connection_init with ${closeText(closing)}${fixOf(closing)}`, {
        cause: error,
      });
    }
  });
}

async function withSocket<T>(
  { url, headers, timeoutMs }: Bench,
  protocol: string,
  use: (socket: Socket) => Promise<T>,
): Promise<T> {
  const ends: (() => void | Promise<void>)[] = [];
  const scope = { after: (end: () => void | Promise<void>) => void ends.push(end) };
  try {
    return await use(await openSocket(scope, url, { protocols: [protocol], headers, patienceMs: timeoutMs }));
  } finally {
    for (const end of ends) await end();
  }
}

/** Both sub-protocols begin with connection_init and connection_ack. */
async function speaksLegacy(bench: Bench): Promise<boolean> {
  try {
    await withSocket(bench, LEGACY, (socket) => socket.init(bench.connectionParams));
    return true;
  } catch {
    return false;
  }
}

function legacyText(url: string): string {
  return `${url} speaks the legacy sub-protocol ${LEGACY} of subscriptions-transport-ws, which is not ${TRANSPORT_WS}; the server needs the npm package graphql-ws, or what its platform has for it`;
}

function fixOf({ code, reason }: Closing): string {
  if (code !== 4403 && code !== 4401 && !/auth|forbidden/i.test(reason)) return '';
  return '; does it need a token? --connection-params \'{ "token": "…" }\' or --header \'authorization: Bearer …\'';
}

function reasonOf({ code = '', message }: NodeJS.ErrnoException, url: string): string {
  const { host, protocol } = new URL(url);
  if (code === 'ECONNREFUSED') return `nothing listens on ${host}; is the server running?`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the host ${host} is not known (${code})`;
  if (NO_TRUST.test(code)) {
    return `its certificate is signed by an authority that is not known here (${code}); NODE_EXTRA_CA_CERTS=<file of the authority> crier bench … trusts it`;
  }
  if (code === 'CERT_HAS_EXPIRED') return 'its certificate has expired';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `its certificate is for another host: ${message}`;
  if (code === 'EPROTO' && protocol === 'wss:') return `the port does not speak TLS; try ${url.replace(/^wss/, 'ws')}`;
  if (protocol === 'ws:' && (code === 'ECONNRESET' || code.startsWith('HPE_')))
    return `the port does not speak HTTP (${code}); try ${url.replace(/^ws/, 'wss')} if it speaks TLS`;
  return message || code;
}

function refusalOf(status: number): string {
  if (status === 401 || status === 403)
    return `status ${status}; does it need a token or an origin? --header 'authorization: Bearer …', --header 'origin: https://…'`;
  if (status === 404 || status === 405) return `status ${status}; is this the path of its GraphQL endpoint?`;
  if (status === 200 || status === 400 || status === 426)
    return `status ${status}; is this the path of its WebSocket, or only of HTTP?`;
  if (status === 429 || status === 503) return `status ${status}; it has too much to do, or limits this client`;
  return `status ${status}`;
}
