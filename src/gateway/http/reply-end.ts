import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Calls `onEnd` once, when the reply was sent or can no longer be. A reply that waits for those of earlier requests (pipelining) emits no
 * `close` when its socket is lost.
 */
export function whenReplied({ socket }: IncomingMessage, response: ServerResponse, onEnd: () => void): void {
  let isEnded = false;
  // A socket that closes closes its first response, and still calls a listener that is removed meanwhile.
  const end = () => {
    if (isEnded) return;
    isEnded = true;
    response.removeListener('close', end);
    socket.removeListener('close', end);
    onEnd();
  };
  // As many listeners as the client has requests in flight.
  socket.setMaxListeners(0);
  response.once('close', end);
  socket.once('close', end);
}
