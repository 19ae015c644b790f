import type { Redis } from 'ioredis';

type OnData = (data: Buffer) => void;

/**
 * Ends a connection on which a reply came that its parser throws at, such as one of ten thousand nested arrays
 * (https://github.com/redis/ioredis/issues/2108) or of an impossible length. The parser runs where nobody else would catch that.
 * @param client not connected yet
 */
export function guardParser(client: Redis): Redis {
  return client.on('connect', () => {
    const { stream } = client;
    for (const parse of stream.listeners('data') as OnData[]) {
      stream.off('data', parse);
      stream.on('data', (data: Buffer) => {
        try {
          parse(data);
        } catch (error) {
          stream.destroy(new Error(`it sent a reply that cannot be read: ${(error as Error).message}`));
        }
      });
    }
  });
}
