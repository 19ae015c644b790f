import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { createServer } from '../../src/library/create-server.ts';
import type { Server } from '../../src/library/create-server.ts';
import { defineGraph } from '../../src/library/define-graph.ts';
import { metricOf } from '../support/metric.ts';
import { openSocket } from '../support/socket.ts';
import type { Scope, Socket } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';

interface Result {
  readonly data: { readonly event: { readonly text: string } };
  readonly extensions: { readonly cursor: string; readonly resumed?: boolean };
}

interface Row {
  readonly seen: string;
  readonly sent: string;
  readonly published: string;
  readonly results: string;
  readonly resumed: string;
}

interface Reply {
  readonly events: readonly Result[];
  readonly cursor: string | null;
  readonly resumed: boolean;
}

const SCHEMA = `
  type Event { id: ID text: String }
  type Subscription {
    event(id: ID!): Event @kafka(topic: "events", match: { arg: "id", path: "id" }, history: {})
    other(id: ID!): Event @kafka(topic: "others", match: { arg: "id", path: "id" }, history: {})
  }`;

/** The rows of the page's table. */
async function rowsOfPage(): Promise<Row[]> {
  const page = await readFile('docs/reference/resume.md', 'utf8');
  const [, ...rows] = page.split('\n').filter((line) => line.startsWith('|') && !line.includes('---'));
  return rows.map((line) => {
    const [seen, sent, published, results, resumed] = line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replaceAll('`', '')) as [string, string, string, string, string];
    return { seen, sent, published, results, resumed };
  });
}

describe('what crier answers to a client that resumes', () => {
  let server: Server;
  let id = 0;

  before(async () => {
    const graph = defineGraph({ schema: SCHEMA });
    server = await createServer({ host: '127.0.0.1', port: 0, logLevel: 'fatal', graph });
  });
  after(() => server.close());

  /** Each subscription has a channel of its own: from then on no event is missed. An operation counts before that. */
  const channels = () => metricOf(server.adminUrl, 'crier_channels');

  async function begin(scope: Scope, field: string, cursor?: string | null): Promise<Socket> {
    const socket = await openSocket(scope, server.webSocketUrl!);
    await socket.init();
    const query = `subscription { event: ${field}(id: ${id}) { text } }`;
    const extensions = cursor === undefined ? undefined : { resume: { cursor } };
    const before = await channels();
    socket.send({ id: '1', type: 'subscribe', payload: { query, extensions } });
    await waitFor('the subscription', async () => (await channels()) === before + 1);
    return socket;
  }

  const publish = (topic: string, text: string) => server.publish(topic, { value: { id, text } });

  async function next(socket: Socket): Promise<Result> {
    const { type, payload } = await socket.next();
    assert.equal(type, 'next');
    return payload as Result;
  }

  /** The cursor of an event that a client has seen. */
  async function see(scope: Scope, field: 'event' | 'other', text: string): Promise<string> {
    const socket = await begin(scope, field);
    await publish(field === 'event' ? 'events' : 'others', text);
    const { extensions } = await next(socket);
    const before = await channels();
    socket.close();
    await waitFor('its end', async () => (await channels()) === before - 1);
    return extensions.cursor;
  }

  async function cursorOf(scope: Scope, { seen, sent }: Row): Promise<string | null | undefined> {
    const own = seen === '' ? null : await see(scope, 'event', seen);
    if (sent === 'no resume') return undefined;
    if (sent.startsWith('of x')) return see(scope, 'other', 'x');
    if (sent.includes('one digit else')) return own!.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    if (sent.includes('was missed')) await publish('events', 'B');
    return own;
  }

  it('is what the page says, row by row', async (t) => {
    const rows = await rowsOfPage();
    assert.equal(rows.length, 8);
    for (const row of rows.filter(({ results }) => results !== '')) {
      id++;
      const socket = await begin(t, 'event', await cursorOf(t, row));
      if (row.published !== '') await publish('events', row.published);
      const { data, extensions } = await next(socket);
      const found = { ...row, results: data.event.text, resumed: extensions.resumed?.toString() ?? '' };
      assert.deepEqual(found, row);
    }
  });

  /** The reply to a plain HTTP request. */
  async function catchUp(cursor: string | null, wait = 0): Promise<Reply> {
    const query = `subscription { event(id: ${id}) { text } }`;
    const params = new URLSearchParams({ query, extensions: JSON.stringify({ resume: { cursor, wait } }) });
    const response = await fetch(`${server.url}?${params.toString()}`, {
      headers: { 'apollo-require-preflight': 'true' },
    });
    return (await response.json()) as Reply;
  }

  it('is what the page says, row by row, in one reply, which has the cursor of the next', async (t) => {
    const rows = await rowsOfPage();
    for (const row of rows.filter(({ sent }) => sent !== 'no resume')) {
      id++;
      const cursor = (await cursorOf(t, row)) ?? null;
      const before = await channels();
      const replying = catchUp(cursor, row.published === '' ? 0 : 30);
      if (row.published !== '') {
        await waitFor('the subscription', async () => (await channels()) === before + 1);
        await publish('events', row.published);
      }
      const { events, resumed, cursor: next } = await replying;
      const results = events.map(({ data }) => data.event.text).join(', ');
      assert.deepEqual({ ...row, results, resumed: `${resumed}` }, row);
      assert.equal(events.at(-1)?.extensions.cursor ?? (row.seen === '' ? null : cursor), next);
      await publish('events', 'C');
      if (next !== null)
        assert.deepEqual(
          (await catchUp(next)).events.map(({ data }) => data.event.text),
          ['C'],
        );
    }
  });
});
