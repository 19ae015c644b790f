import { openGraphqlSocket, openMany, subscribe } from '../clients/graphql-socket.ts';
import { answerCalls } from '../processes/process-call.ts';

interface Client {
  last: number;
  version: string;
}

const clients: Client[] = [];
/** Each event has a number, one more than that of the event before. `ended`: `error` and `complete` messages. */
const faults = { closed: 0, ended: 0, lost: 0, doubled: 0 };

async function connect(port: number, query: string): Promise<void> {
  const client: Client = { last: -1, version: '' };
  clients.push(client);
  const onMessage = (data: Buffer) => {
    const text = data.toString('latin1');
    if (text.includes('"type":"next"')) receive(client, text);
    else faults.ended++;
  };
  const socket = await openGraphqlSocket({ port, onMessage });
  socket.on('close', () => faults.closed++);
  subscribe(socket, { query }, '1');
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

const methods = {
  /** The clients use one document after another. */
  connect: async ({ port, sockets, documents }: { port: number; sockets: number; documents: readonly string[] }) =>
    void (await openMany(sockets, (i) => connect(port, documents[i % documents.length]!))),
  report: ({ number, version }: { number: number; version: string }) => ({
    ...faults,
    /** Clients that have received the event of this number. */
    upToDate: clients.filter(({ last }) => last === number).length,
    /** Clients whose last result is of this version of the graph. */
    ofVersion: clients.filter((client) => client.version === version).length,
  }),
};
export type WatchingClients = typeof methods;
answerCalls(methods);
