import type { Socket } from 'node:net';

/**
 * Reads about `maxBytes` (at most two chunks of 64 KiB more) in one turn of the event loop; other bytes stay in the kernel's receive
 * buffer. Without the limit a socket reads up to 32 chunks in a turn (libuv's `uv__read`). The objects decoded from them are all alive at
 * the next garbage collection, which promotes them to the old generation.
 */
export function limitReads(socket: Socket, maxBytes: number): void {
  let bytes = 0;
  const onTurnEnd = () => {
    bytes = 0;
    socket.resume();
  };
  socket.on('data', ({ length }: Buffer) => {
    if (bytes === 0) setImmediate(onTurnEnd);
    bytes += length;
    if (bytes >= maxBytes) socket.pause();
  });
}
