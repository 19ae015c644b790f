import { createRequire } from 'node:module';
import type { Redis } from 'ioredis';

type OnData = (data: Buffer) => void;

/** The part of ioredis's DataHandler that this file replaces. It parses what its client's stream receives from then on. */
interface Replies {
  returnReply(reply: unknown): void;
}

/** Far more than any reply that crier asks for. Code that reads replies may recurse. */
const MAX_NESTING = 64;

const { default: DataHandler } = createRequire(import.meta.url)('ioredis/built/DataHandler') as {
  readonly default: new (client: Redis, options: { readonly stringNumbers: boolean | undefined }) => Replies;
};

class BoundedReplies extends DataHandler {
  override returnReply(reply: unknown): void {
    if (isNested(reply, MAX_NESTING)) throw new Error(`its arrays are nested more than ${MAX_NESTING} deep`);
    super.returnReply(reply);
  }
}

/**
 * Ends a connection on which a reply came that is nested more than 64 deep, or that its parser throws at, such as one of ten thousand
 * nested arrays (https://github.com/redis/ioredis/issues/2108) or of an impossible length. The parser runs where nobody else would catch
 * that.
 * @param client not connected yet
 */
export function guardParser(client: Redis): Redis {
  return client.on('connect', () => {
    const { stream } = client;
    stream.removeAllListeners('data');
    new BoundedReplies(client, { stringNumbers: client.options.stringNumbers });
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

/** True if arrays are nested more than `levels` deep. */
function isNested(reply: unknown, levels: number): boolean {
  if (!Array.isArray(reply)) return false;
  if (levels === 0) return true;
  for (const one of reply) if (isNested(one, levels - 1)) return true;
  return false;
}
