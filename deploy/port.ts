import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Linux gives out ports from 32768 on by itself: to who listens on port 0, and to whoever connects. */
const [FIRST_PORT, LAST_PORT] = [20_000, 32_767];

/**
 * Free loopback ports, all different. Nobody gets one of them by chance before it is listened on, nor while a server that had it
 * is away.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (!(await isPortTaken(port))) ports.add(port);
  }
  return [...ports];
}

/** Whether something of this machine listens on the loopback port. */
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
