import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Linux assigns ports from 32768 on by itself: to listeners on port 0 and to outgoing connections. */
const [FIRST_PORT, LAST_PORT] = [20_000, 32_767];
/** A port is not returned again before this many others were: its server may not listen yet, or may be restarting. */
const REMEMBERED_PORTS = 4_000;

const remembered = new Set<number>();

/** Returns free loopback ports. This process returns none of them again for a long time (`REMEMBERED_PORTS`). */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (remembered.has(port)) continue;
    remembered.add(port);
    if (!(await isPortTaken(port))) ports.push(port);
    if (remembered.size > REMEMBERED_PORTS) remembered.delete(remembered.values().next().value!);
  }
  return ports;
}

/** True if a process of this machine listens on the loopback port. */
export function isPortTaken(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(true);
      else reject(error);
    });
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(false)));
  });
}
