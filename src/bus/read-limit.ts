import type { Socket } from 'node:net';

/**
 * Reads about `maxBytes` (two chunks of 64 KiB more at most) in one turn of the event loop; what else has arrived waits in
 * the operating system. Left alone a socket reads up to 32 chunks in a turn (libuv's `uv__read`), and all that is made of them is
 * alive at once when garbage is collected, is kept for longer than it lives, and slows down whoever works it off.
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
