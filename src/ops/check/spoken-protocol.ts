import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { HostPort } from '../../config/addresses/redis-address.ts';

const TIMEOUT_MS = 2000;

/** What a server speaks that does not answer as REDIS_URL expects; undefined: it cannot be reached. */
export async function spokenAt({ host, port }: HostPort): Promise<'redis' | 'tls' | 'other' | undefined> {
  try {
    const answer = await firstBytes(connect({ host, port }), 'connect', 'PING\r\n');
    if (/^[+-]/.test(answer)) return 'redis';
  } catch {
    return undefined;
  }
  // Whose certificate it is does not matter here.
  const secure = connectTls({ host, port, rejectUnauthorized: false });
  return firstBytes(secure, 'secureConnect', 'PING\r\n').then(
    () => 'tls' as const,
    () => 'other' as const,
  );
}

/** '': the server sends nothing. @throws Error if it cannot be connected to */
async function firstBytes(socket: Socket, connected: string, text: string): Promise<string> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    await once(socket, connected, { signal });
    socket.on('error', () => undefined).write(text);
    const ended = once(socket, 'close', { signal }).then(() => []);
    const [bytes] = (await Promise.race([once(socket, 'data', { signal }), ended]).catch(() => [])) as [Buffer?];
    return bytes?.toString('latin1') ?? '';
  } finally {
    socket.destroy();
  }
}
