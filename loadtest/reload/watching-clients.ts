import { WebSocket } from 'ws';
import { answerCalls } from '../processes/process-call.ts';

export interface WatchPlan {
  readonly port: number;
  readonly sockets: number;
  /** Documents, of which the clients use one after another. */
  readonly documents: readonly string[];
}

/** What the clients have received. Each event has a number, one more than that of the event before. */
export interface WatchReport {
  readonly closed: number;
  /** `error` and `complete` messages. */
  readonly ended: number;
  readonly lost: number;
  readonly doubled: number;
  /** Clients that have received the event of this number. */
  readonly upToDate: number;
  /** Clients whose last result is of this version of the graph. */
  readonly ofVersion: number;
}

interface Client {
  last: number;
  version: string;
}

const CONNECTS_AT_A_TIME = 100;
const clients: Client[] = [];
const faults = { closed: 0, ended: 0, lost: 0, doubled: 0 };

function connect(port: number, query: string): Promise<void> {
  const client: Client = { last: -1, version: '' };
  clients.push(client);
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', {
      perMessageDeflate: false,
    });
    socket.once('error', reject);
    socket.on('close', () => faults.closed++);
    socket.on('open', () => socket.send('{"type":"connection_init"}'));
    socket.on('message', (data: Buffer) => {
      const text = data.toString('latin1');
      if (text.includes('"type":"next"')) return receive(client, text);
      if (text.includes('"type":"connection_ack"')) {
        socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
        return resolve();
      }
      if (text.includes('"type":"ping"')) return socket.send('{"type":"pong"}');
      faults.ended++;
    });
  });
}

function receive(client: Client, text: string): void {
  const number = Number(/"n":(\d+)/.exec(text)?.[1]);
  if (number <= client.last) faults.doubled++;
  else {
    if (client.last >= 0) faults.lost += number - client.last - 1;
    client.last = number;
  }
  client.version = /"version":"(\w+)"/.exec(text)?.[1] ?? '';
}

answerCalls({
  connect: async ({ port, sockets, documents }: WatchPlan) => {
    for (let i = 0; i < sockets; i += CONNECTS_AT_A_TIME) {
      const length = Math.min(CONNECTS_AT_A_TIME, sockets - i);
      await Promise.all(Array.from({ length }, (_, j) => connect(port, documents[(i + j) % documents.length]!)));
    }
  },
  report: ({ number, version }: { number: number; version: string }): WatchReport => ({
    ...faults,
    upToDate: clients.filter(({ last }) => last === number).length,
    ofVersion: clients.filter((client) => client.version === version).length,
  }),
});
