import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import kafkajs from 'kafkajs';
import type { ISocketFactoryArgs, Kafka, LogEntry } from 'kafkajs';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import { KafkaAccess } from './access/kafka-access.ts';
import type { KafkaConnectionConfig } from './access/kafka-access.ts';
import { joinInBackground } from './patches/background-joins.ts';
import { CLIENT_CLOSED, surviveFailovers } from './patches/failover.ts';
import { stopIdleTimers } from './patches/idle-timer.ts';
import { tolerateLeaderless } from './patches/partition-errors.ts';
import { endStoppedRunners } from './patches/stopped-runner.ts';
import { saslMechanism } from './sasl.ts';

const CLIENT_ID = 'crier';
const CONNECT_TIMEOUT_MS = 3000;
/** The first request on a connection asks for versions or a login, which takes a broker no time. */
const ANSWER_TIMEOUT_MS = 3000;
const TCP_KEEP_ALIVE_MS = 60_000;
const LOG_WINDOW_MS = 5000;
/**
 * At each start of an idempotent producer: a record that it gave up is reported, so its retries may end. And at the first group of a new
 * cluster, whose brokers make the topic of groups then: kafkajs tries again, and crier logs what ends a consumer.
 */
const EXPECTED = /^Limiting retries for the idempotent producer|The group coordinator is not available/;

/** A client of the configured brokers that can be closed at any time. */
export interface KafkaClient {
  /** For this folder only: other files use what it makes of the client, such as `Producer`. */
  readonly kafka: Kafka;
  /** Destroys every socket and refuses new ones, so that every pending request fails soon. Idempotent. */
  destroy(): void;
}

/**
 * Creates a client of the configured brokers. This folder is the only one that imports kafkajs. The client retries little: its users retry
 * in ways that they can cancel.
 * @throws SetupError if the installed version of kafkajs is unknown
 */
export function createKafkaClient(config: KafkaConnectionConfig, log: Logger): KafkaClient {
  stopIdleTimers();
  endStoppedRunners();
  joinInBackground();
  surviveFailovers();
  const sockets = new Set<Socket>();
  let isDestroyed = false;
  const access = KafkaAccess.of(config);
  const socketFactory = ({ host, port, onConnect }: ISocketFactoryArgs): Socket => {
    if (isDestroyed) throw new Error(CLIENT_CLOSED);
    const servername = isIP(host) ? {} : { servername: host };
    const secureContext = access.secureContext(log);
    const socket = secureContext
      ? connectTls({ host, port, ...servername, secureContext }, onConnect)
      : connectTcp({ host, port }, onConnect);
    // kafkajs adds one for each request that waits for the connection.
    socket.setMaxListeners(0);
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    sockets.add(socket);
    const silence = watchSilence(socket, () =>
      socket.destroy(new Error(`${host}:${port} accepts connections and does not answer`)),
    );
    socket.once('close', () => {
      sockets.delete(socket);
      clearInterval(silence);
      const isUnanswered = socket.bytesRead === 0 && (socket.bytesWritten > 0 || !isConnected);
      if (isUnanswered && !isDestroyed) access.demote(`${host}:${port}`);
    });
    let isConnected = false;
    socket.once('connect', () => (isConnected = true));
    return socket;
  };
  const sasl = saslMechanism(config, access);
  const kafka = new kafkajs.Kafka({
    clientId: CLIENT_ID,
    brokers: [...access.brokers],
    ...(sasl && { sasl }),
    connectionTimeout: CONNECT_TIMEOUT_MS,
    retry: { retries: 2, initialRetryTime: 200, maxRetryTime: 1000 },
    socketFactory,
    logLevel: kafkajs.logLevel.INFO,
    logCreator: () => writeTo(log, () => isDestroyed),
  });
  tolerateLeaderless(kafka);
  return {
    kafka,
    destroy: () => {
      isDestroyed = true;
      // With an error: kafkajs rejects pending requests on `error` only.
      for (const socket of sockets) socket.destroy(new Error(CLIENT_CLOSED));
    },
  };
}

/**
 * Calls `onSilence` if a first request has had no answer for 1.5 to 3 s: a hung broker accepts connections. kafkajs would wait for three
 * such times, and the next client would begin with it again. kafkajs also opens connections on which it sends nothing. Counts its own looks:
 * after a blocked event loop an answer may be unread. Exported for its test.
 */
export function watchSilence(socket: Socket, onSilence: () => void, answerMs = ANSWER_TIMEOUT_MS): NodeJS.Timeout {
  let looks = 0;
  const timer = setInterval(() => {
    if (socket.bytesRead > 0) clearInterval(timer);
    else if (socket.bytesWritten > 0 && ++looks === 2) onSilence();
  }, answerMs / 2).unref();
  return timer;
}

/**
 * Writes kafkajs's log entries to crier's log. kafkajs logs as errors what it retries, many times a second while a broker is down, so
 * errors become warnings, one per 5 s and kind. What a closed client logs is the end of its connections. crier logs what ends a consumer.
 * Only fields that cannot hold a payload are copied.
 */
function writeTo(log: Logger, isClosed: () => boolean): (entry: LogEntry) => void {
  const window = new LogWindow(LOG_WINDOW_MS);
  return ({ namespace, level, log: { message, broker, groupId, topic, partition, error } }) => {
    const fields = { broker: text(broker), groupId: text(groupId), topic: text(topic), partition: text(partition) };
    // The root logger has no namespace, contrary to kafkajs's types. A namespace may end in a node id, which is data.
    const [kind = ''] = (namespace as string | undefined)?.split(' ') ?? [];
    const line = `${['kafkajs', namespace].filter(Boolean).join(' ')}: ${message}`;
    const reason = text(error);
    const isExpected = level >= kafkajs.logLevel.INFO || EXPECTED.test(`${message} ${reason}`) || isClosed();
    if (isExpected) return log.debug(fields, line);
    window.run(`${kind} ${level}`, (suppressed) =>
      log.warn({ ...fields, err: reason === undefined ? undefined : { message: reason }, suppressed }, line),
    );
  };
}

function text(value: unknown): string | undefined {
  if (value instanceof Error) return value.message;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
