import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { defineGraph } from '../../src/library/crier.ts';
import { stateSignatures } from '../../src/graph/state/state-signature.ts';
import { reloadStage } from '../reload/stage.ts';
import { openSocket } from '../support/socket.ts';
import type { Socket } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';
import { GRAPH_CHANGES, LIVE, SCHEMA, recordOf, schemasOf } from './graph-changes.ts';
import type { GraphChange } from './graph-changes.ts';

/** What the page says of a change. */
interface Row {
  /** Of live subscriptions. */
  readonly live: 'go on' | 'end';
  /** Whether their next event has `gap: true`. */
  readonly hasGap: boolean;
  /** Of a client that resumes after the change. */
  readonly resume: string;
  readonly state: string;
}

interface Result {
  readonly data: { readonly item: { readonly n: number | string } | null };
  readonly extensions: { readonly cursor: string; readonly gap?: boolean; readonly resumed?: boolean };
}

type Stage = Awaited<ReturnType<typeof reloadStage>>;

/** What the page says, by the change. Where it is silent, the cursor resumes and the state is kept. */
function changesOnPage(): ReadonlyMap<string, Row> {
  const rows = new Map<string, Row>();
  const [, part = ''] = readFileSync('docs/operate/schema-changes.md', 'utf8').split('\n## Change by change\n');
  for (const section of part.split('\n## ')[0]!.split('\n### ').slice(1)) {
    const live = section.startsWith('They end') ? 'end' : 'go on';
    const listed = section.matchAll(/^- ([^*:\n][^:\n]*)/gm);
    const inTable = section.matchAll(/^\| (?!change +\||-)(.*?) +\| (.*?) +\|$/gm);
    for (const [, title = '', what = ''] of [...listed, ...inTable]) {
      const parts = what === '' ? [] : what.split('; ');
      const state = parts.find((words) => !words.startsWith('`')) ?? 'is kept';
      const resume = parts.includes('`resumed: false`') ? '`resumed: false`' : 'resumes';
      rows.set(title, { live, hasGap: parts.includes('`gap: true`'), resume, state });
    }
  }
  return rows;
}

const VARIABLES = { id: 'ID!', text: 'String!', kind: 'Kind' };

/** One client. */
class Reader {
  readonly #stage: Stage;
  readonly #socket: Socket;
  readonly #item: string;

  /** @param item the id that it subscribes to */
  static async open(t: TestContext, stage: Stage, item: string): Promise<Reader> {
    const socket = await openSocket(t, `ws://127.0.0.1:${stage.server.port}/graphql`);
    await socket.init();
    return new Reader(stage, socket, item);
  }

  private constructor(stage: Stage, socket: Socket, item: string) {
    this.#stage = stage;
    this.#socket = socket;
    this.#item = item;
  }

  /** Resolves when the subscription is live. */
  async subscribe(selection: string, cursor?: string): Promise<void> {
    // An operation counts before its document is prepared, a subscription when it has joined its channel.
    const subscriptions = async () => await this.#stage.metric('crier_subscriptions');
    const before = await subscriptions();
    const declared = Object.entries(VARIABLES).filter(([name]) => selection.includes(`$${name}`));
    const query = `subscription (${declared.map(([name, type]) => `$${name}: ${type}`).join()}) { ${selection} }`;
    const variables = { id: this.#item, text: this.#item, kind: 'LARGE' };
    this.#socket.subscribe('1', query, variables, { ...(cursor !== undefined && { resume: { cursor } }) });
    await waitFor('the subscription', async () => (await subscriptions()) > before);
  }

  /** The next message: a result, or the code of an error. */
  async next(): Promise<Result | string> {
    const { type, payload } = await this.#socket.next();
    if (type === 'next') return payload as Result;
    return (payload as { extensions: { code: string } }[])[0]!.extensions.code;
  }

  async results(count: number): Promise<readonly Result[]> {
    const results: Result[] = [];
    while (results.length < count) {
      const next = await this.next();
      assert.ok(typeof next === 'object', JSON.stringify(next));
      results.push(next);
    }
    return results;
  }
}

async function put(stage: Stage, item: string, n: number, topic = 'items'): Promise<void> {
  const value = Buffer.from(JSON.stringify(recordOf(item, n)));
  await stage.server.embedded!.append(topic, { key: Buffer.from(item), value });
}

async function serve(stage: Stage, schema: string): Promise<void> {
  await stage.change({ 'schema.graphql': schema });
  const outcome = await stage.server.reload();
  assert.notEqual(outcome.outcome, 'refused', JSON.stringify(outcome));
}

/** Names the states that a schema keeps, by topic. Workers fill them again if it changes. */
function statesOf(schema: string): string {
  return JSON.stringify([...stateSignatures(defineGraph({ schema }).bindings.values(), [])]);
}

/** Makes a change under a live client, a client that resumes and a new one, and compares what they receive with the page. */
async function tryChange(t: TestContext, stage: Stage, item: string, change: GraphChange, row: Row): Promise<void> {
  const { live: selection = LIVE, next: nextSelection = selection, topic, replayed, later } = change;
  const [former, changed] = schemasOf(change);
  await serve(stage, former);
  const live = await Reader.open(t, stage, item);
  await live.subscribe(selection);
  for (const n of [1, 2]) await put(stage, item, n);
  const [seen] = await live.results(2);
  await serve(stage, changed);
  await put(stage, item, 3, topic);
  const after = await live.next();
  if (row.live === 'end') assert.equal(after, 'SCHEMA_CHANGED');
  else {
    assert.ok(typeof after === 'object', JSON.stringify(after));
    assert.equal(after.extensions.gap, row.hasGap ? true : undefined);
  }

  const [back, begun] = [await Reader.open(t, stage, item), await Reader.open(t, stage, item)];
  await back.subscribe(nextSelection, seen!.extensions.cursor);
  await begun.subscribe(nextSelection);
  await put(stage, item, 4, topic);
  const hasState = changed.includes('state:');
  const resumes = row.resume === 'resumes';
  const results = await back.results(resumes ? 3 : hasState ? 2 : 1);
  assert.equal(results[0]!.extensions.resumed, resumes);
  if (!resumes) assert.equal(row.resume, '`resumed: false`');
  if (replayed !== undefined) assert.deepEqual(results[0]!.data.item, replayed);
  if (later === undefined) assert.equal(results.at(-1)!.data.item!.n, 4);
  else assert.deepEqual(results.at(-1)!.data.item, later);

  const isKept = statesOf(former) === statesOf(changed);
  const states = !changed.includes('state:') ? 'no state' : isKept ? 'is kept' : 'filled again';
  assert.equal(row.state, states);
  // It begins with record 3.
  if (states === 'is kept') await begun.results(2);
}

describe('docs/operate/schema-changes.md', () => {
  it('says of each change what happens to live subscriptions, earlier cursors and states', async (t) => {
    const rows = changesOnPage();
    assert.deepEqual([...rows.keys()].sort(), Object.keys(GRAPH_CHANGES).sort());
    const stage = await reloadStage(t, { 'schema.graphql': SCHEMA, 'resolvers.js': '' });
    for (const [at, [title, row]] of [...rows].entries()) {
      await t.test(title, (one) => tryChange(one, stage, `item ${at}`, GRAPH_CHANGES[title]!, row));
      await waitFor('the end of its clients', async () => (await stage.metric('crier_operations')) === 0);
    }
  });

  it('begins sample records again', async (t) => {
    const samples =
      'export function* records() { for (let n = 1; ; n++) yield { topic: "items", value: { id: "a", n } }; }';
    const files = { 'schema.graphql': SCHEMA, 'resolvers.js': '', 'samples.js': samples };
    const stage = await reloadStage(t, files, { SAMPLE_INTERVAL_MS: '20' });
    const live = stage.watch('subscription { item(id: "a") { n } }');
    const numbers = () => live.events.map(({ item }) => (item as { n: number }).n);
    await live.event(5);
    await serve(stage, SCHEMA.replace(' label: String', ''));
    await waitFor('the first sample', () => numbers().lastIndexOf(1) > 0);
    assert.deepEqual(live.failures, []);
  });
});
