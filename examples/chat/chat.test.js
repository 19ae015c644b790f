import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { startGraph } from 'crier/testing';

const graph = await startGraph(import.meta.dirname);
after(() => graph.close());

it('delivers what is said in a room to that room', async () => {
  const [lobby, help] = await Promise.all(
    ['lobby', 'help'].map((room) => graph.subscribe(`subscription { said(room: "${room}") { id user text } }`)),
  );
  await graph.query('mutation { say(room: "lobby", user: "Ann", text: "Hello", id: "1") { at } }');
  await graph.query('mutation { say(room: "help", user: "Bob", text: "Help!", id: "2") { at } }');
  assert.deepEqual((await lobby?.next())?.value?.data, { said: { id: '1', user: 'Ann', text: 'Hello' } });
  assert.deepEqual((await help?.next())?.value?.data, { said: { id: '2', user: 'Bob', text: 'Help!' } });
});

it('tells a room who is typing', async () => {
  const events = await graph.subscribe('subscription { typing(room: "lobby") { user } }');
  await graph.query('mutation { type(room: "lobby", user: "Ann") }');
  assert.deepEqual((await events.next()).value?.data, { typing: { user: 'Ann' } });
});
