import { once } from 'node:events';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';

/** Connects to a port of loopback, sends a text, and collects the reply. */
export async function sendRaw(t: TestContext, port: number, text: string) {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  t.after(() => socket.destroy());
  const reply = { text: '', isClosed: false };
  socket.on('data', (chunk: Buffer) => (reply.text += chunk.toString()));
  socket.once('close', () => (reply.isClosed = true));
  await once(socket, 'connect');
  socket.write(text);
  return { socket, reply };
}
