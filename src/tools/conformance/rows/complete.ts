import assert from 'node:assert/strict';
import { assertComplete, assertData, assertNone } from '../answers.ts';
import { subscribeMessage } from '../message.ts';
import type { ProtocolRow } from '../row.ts';

/** Events that are counted to tell one subscription from two. */
const COUNTED_EVENTS = 3;

export const completeRows: readonly ProtocolRow[] = [
  {
    id: 'C-46',
    level: 'P',
    title: 'delivers no event after complete',
    source: 'protocol, "Complete"',
    needs: ['events'],
    async run(stage) {
      const socket = await stage.connect();
      const feed = await stage.start(socket, 'a');
      await stage.start(socket, 'other', feed);
      await stage.complete(socket, 'a');
      await stage.staysSilent(socket, 'a', 'other', feed);
    },
  },
  {
    id: 'X-18',
    level: 'REF',
    title: 'sends no complete back',
    source: 'graphql-ws; the protocol lets clients ignore it, "Complete"',
    needs: ['subscription'],
    async run(stage) {
      const socket = await stage.connect();
      await stage.start(socket, 'a');
      socket.complete('a');
      assertNone(await socket.roundTrip());
    },
  },
  {
    id: 'C-49',
    level: 'P',
    title: 'ignores complete for an id that is unknown or finished',
    source: 'protocol, "Complete" and "Invalid message"',
    needs: ['query'],
    async run(stage) {
      const socket = await stage.connect();
      stage.ask(socket, 'a');
      assertData(await socket.next(), 'a');
      assertComplete(await socket.next(), 'a');
      for (const id of ['a', 'a', 'unknown', '__proto__', 'toString']) {
        socket.complete(id);
        assertNone(await socket.roundTrip(), id);
      }
    },
  },
  {
    id: 'C-51',
    level: 'P',
    title: 'closes with 4400 at a complete without an id or with one that is not a string',
    source: 'protocol, "Communication" and "Invalid message"',
    run: (stage) =>
      stage.refuses(
        4400,
        [undefined, null, 0, {}, []].map((id) => ({ id, type: 'complete' })),
      ),
  },
  {
    id: 'X-30',
    level: 'P',
    title: 'keeps the new operation when complete and a subscribe with the same id come in one segment',
    source: 'protocol, "Subscribe": once completed, an id is free again',
    needs: ['events'],
    async run(stage) {
      const socket = await stage.connect();
      const feed = await stage.start(socket, 'a');
      await stage.start(socket, 'other', feed);
      const { query, variables } = feed.operation;
      socket.sendTogether({ type: 'complete', id: 'a' }, subscribeMessage('a', query, variables));
      const answers = await socket.roundTrip();
      assert.ok(
        !answers.some(({ type, id }) => type === 'complete' && id === 'a'),
        'the complete of the old operation came after the subscribe, so that it ends the new one for the client',
      );
      assertNone(answers);
      await stage.event(socket, 'a', feed);
      const counted = () => ['a', 'other'].map((id) => socket.eventsOf(id));
      const before = counted();
      for (let i = 0; i < COUNTED_EVENTS; i++) await stage.event(socket, 'other', feed);
      assertNone(await socket.roundTrip());
      const [events, others] = counted().map((count, index) => count - before[index]!) as [number, number];
      // The two may be one event apart, never twice as many.
      assert.ok(Math.abs(events - others) <= 1, `${events} events came, while "other" received ${others}`);
      await stage.complete(socket, 'a');
      await stage.staysSilent(socket, 'a', 'other', feed);
    },
  },
];
