import type { Socket } from 'node:net';

/**
 * Reads about `maxBytes` (two chunks of 64 KiB more at most) in one turn of the event loop; the rest waits in the
 * kernel's receive buffer. Without the limit a socket reads up to 32 chunks in a turn (libuv's `uv__read`). The objects made of them are
 * all alive at once when garbage is collected, so they are promoted to the old generation.
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
