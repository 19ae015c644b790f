import { connect as connectTcp, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** What a client without credentials learns of a broker's listener. */
export interface KafkaListener {
  readonly isTls: boolean;
  /** The SASL mechanisms that the listener offers, in upper case; none: it does not use SASL. */
  readonly mechanisms: readonly string[];
}

/** Longest time of each of the two attempts. */
const TIMEOUT_MS = 3000;
const CORRELATION_ID = 1;
/** Length, correlation id, error code, and the count of mechanisms. */
const MIN_REPLY_BYTES = 14;
const MAX_REPLY_BYTES = 65_536;

/** What the first of the brokers that answers speaks. undefined: none answers. */
export async function findListener(brokers: readonly string[]): Promise<KafkaListener | undefined> {
  const listeners = await Promise.all(
    brokers.map((broker) => {
      const colon = broker.lastIndexOf(':');
      const host = broker.slice(0, colon).replace(/^\[|\]$/g, '');
      return probeListener(host, Number(broker.slice(colon + 1)));
    }),
  );
  return listeners.find((listener) => listener !== undefined);
}

/** Sends a SaslHandshake, first without TLS. undefined: no broker answers either time. The certificate is not checked. */
export async function probeListener(host: string, port: number): Promise<KafkaListener | undefined> {
  const plain = await offeredMechanisms(() => connectTcp({ host, port }));
  if (plain) return { isTls: false, mechanisms: plain };
  const servername = isIP(host) ? {} : { servername: host };
  const encrypted = await offeredMechanisms(() => connectTls({ host, port, ...servername, rejectUnauthorized: false }));
  return encrypted && { isTls: true, mechanisms: encrypted };
}

/** undefined: a port out of range, no connection, or no reply of a broker. */
async function offeredMechanisms(connect: () => Socket): Promise<readonly string[] | undefined> {
  let timer: NodeJS.Timeout | undefined;
  try {
    const socket = connect();
    timer = setTimeout(() => socket.destroy(), TIMEOUT_MS);
    socket.write(saslHandshake('none'));
    return await replyOf(socket);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** Version 1 of the request. A broker that does not know the mechanism replies with those it offers. */
function saslHandshake(mechanism: string): Buffer {
  const head = Buffer.alloc(16);
  head.writeInt32BE(head.length + mechanism.length - 4, 0);
  head.writeInt16BE(17, 4);
  head.writeInt16BE(1, 6);
  head.writeInt32BE(CORRELATION_ID, 8);
  // No client id.
  head.writeInt16BE(-1, 12);
  head.writeInt16BE(mechanism.length, 14);
  return Buffer.concat([head, Buffer.from(mechanism)]);
}

/** undefined: what arrives is no reply to the request, such as an alert of TLS, or the connection ends before. */
async function replyOf(socket: Socket): Promise<readonly string[] | undefined> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of socket) {
    bytes = Buffer.concat([bytes, chunk as Buffer]);
    if (bytes.length < 8) continue;
    const end = bytes.readInt32BE(0) + 4;
    if (bytes.readInt32BE(4) !== CORRELATION_ID || end < MIN_REPLY_BYTES || end > MAX_REPLY_BYTES) return undefined;
    if (bytes.length >= end) return mechanismsIn(bytes.subarray(0, end));
  }
  return undefined;
}

/** A listener without SASL replies with an error and no mechanism. */
function mechanismsIn(reply: Buffer): string[] {
  const mechanisms: string[] = [];
  for (let at = MIN_REPLY_BYTES; at + 2 <= reply.length;) {
    const length = reply.readInt16BE(at);
    if (length < 0) break;
    mechanisms.push(reply.toString('latin1', at + 2, at + 2 + length));
    at += 2 + length;
  }
  return mechanisms;
}
