import { connect, createServer } from 'node:net';
import { Redis } from 'ioredis';
import { answerCalls } from '../processes/process-call.ts';

/** Where a process receives the messages of a channel: from Redis, and then it passes them on over `path` if there is one; else over `path`. */
export interface SubscriberPlan {
  /** undefined: it listens on `path`. */
  readonly redisUrl?: string;
  /** A Unix socket: where it listens, or where it passes messages on. */
  readonly path?: string;
}

export const CHANNEL = 'hot';
/** Each message is preceded by its length on the socket. */
const HEADER_BYTES = 4;

let received = 0;

async function start({ redisUrl, path }: SubscriberPlan): Promise<void> {
  if (redisUrl === undefined) return new Promise((resolve) => void listenOn(path!, resolve));
  const relay = path === undefined ? undefined : connect(path);
  const redis = new Redis(redisUrl);
  redis.on('messageBuffer', (_channel: Buffer, message: Buffer) => {
    received++;
    if (!relay) return;
    const header = Buffer.allocUnsafe(HEADER_BYTES);
    header.writeUInt32LE(message.length);
    // The messages of one read leave in one write.
    if (!relay.writableCorked) {
      relay.cork();
      process.nextTick(() => relay.uncork());
    }
    relay.write(header);
    relay.write(message);
  });
  await redis.subscribe(CHANNEL);
}

function listenOn(path: string, onListening: () => void): void {
  createServer((socket) => {
    let rest: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      let at = 0;
      while (bytes.length - at >= HEADER_BYTES) {
        const end = at + HEADER_BYTES + bytes.readUInt32LE(at);
        if (end > bytes.length) break;
        received++;
        at = end;
      }
      rest = bytes.subarray(at);
    });
  }).listen(path, onListening);
}

answerCalls({ start, received: () => received });
// Until the parent calls, nothing else keeps it alive.
process.channel?.ref();
