import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Page } from 'playwright-core';
import { openStage } from './stage.ts';

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

it('examples/chat', async (t) => {
  // The graph needs no Kafka.
  const stage = await openStage(t, 'chat', { ROLE: 'gateway' });
  const ann = stage.page;
  const bob = await ann.context().newPage();
  await bob.goto(stage.url);
  await bob.getByText('Live').waitFor();
  for (const [page, name] of [
    [ann, 'Ann'],
    [bob, 'Bob'],
  ] as const) {
    await page.getByLabel('You are').fill(name);
    await page.getByLabel('Message').focus();
  }

  await t.test('shows in a room what is said there, and who is typing', async () => {
    await bob.getByLabel('Message').pressSequentially('He');
    await ann.getByText('Bob is typing').waitFor();
    await say(bob, 'Hello');
    await ann.getByRole('listitem').filter({ hasText: 'Bob Hello' }).waitFor();
    await bob.locator('li.own:not(.waiting)').waitFor();
    await bob.getByRole('link', { name: 'help' }).click();
    await say(bob, 'Help!');
    await bob.locator('li.own:not(.waiting)').waitFor();
    await say(ann, 'Bye');
    await ann.locator('li.own:not(.waiting)').waitFor();
    assert.deepEqual(await ann.getByRole('listitem').count(), 2);
  });

  await t.test('sends what is said while the pod is away, once, and says where messages may be missing', async () => {
    await bob.getByRole('link', { name: 'lobby' }).click();
    await stage.stopPod();
    await bob.getByText('Connecting').waitFor();
    await say(ann, 'Nobody hears me');
    await ann.locator('li.own.waiting').waitFor();
    await stage.startPod();
    await ann.locator('li.own:not(.waiting)', { hasText: 'Nobody hears me' }).waitFor();
    await bob.getByText('Live').waitFor();
    await say(bob, 'Back again');
    await ann.getByText('Back again').waitFor();
    await ann.getByText('messages may be missing here').waitFor();
    assert.equal(await ann.getByText('Nobody hears me').count(), 1);
  });

  await t.test('fills narrow and wide windows, is accessible in both colour schemes, and asks no other server', () =>
    stage.checkPage(),
  );
});
