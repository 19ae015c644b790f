import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { freePorts } from '../../stack/port.ts';
import { createGraphTopics, readTopics } from '../../stack/topics.ts';
import { schemaRegistry } from '../support/schema-registry.ts';
import { kafkaBrokers } from '../support/services.ts';
import { openStage, runProgram } from './stage.ts';

it('examples/orders', async (t) => {
  const brokers = await kafkaBrokers(t);
  await createGraphTopics(brokers, (await readTopics('examples/orders'))!);
  const registry = await schemaRegistry(t);
  const [shopPort] = await freePorts(1);
  const addresses = { KAFKA_BROKERS: brokers, SCHEMA_REGISTRY_URL: registry.url };
  await runProgram(t, ['examples/orders/shop.js'], { ...addresses, SHOP_PORT: `${shopPort}` });
  const produce = (...words: string[]) =>
    promisify(execFile)(process.execPath, ['examples/orders/produce.js', ...words], {
      env: { PATH: process.env['PATH'], ...addresses },
    });
  const stage = await openStage(t, 'orders', { ...addresses, BACKEND_SHOP_URL: `http://127.0.0.1:${shopPort}` });
  const { page } = stage;
  const own = page.locator('section', { hasText: 'Your orders' });
  const all = page.locator('section', { hasText: 'All orders' });

  await t.test('shows an order that is placed, its updates in every list, and its end', async () => {
    await page.getByLabel('Total').fill('42.50');
    await page.getByRole('button', { name: 'Place order' }).click();
    const row = own.getByRole('listitem');
    await row.filter({ hasText: 'PLACED' }).waitFor();
    await row.filter({ hasText: 'PAID' }).waitFor();
    await all.getByRole('listitem').filter({ hasText: 'PAID' }).filter({ hasText: '42.50' }).waitFor();
    await produce((await row.locator('code').textContent())!, 'delete');
    await row.filter({ hasText: 'deleted by the shop' }).waitFor();
    await all.getByText('42.50').waitFor({ state: 'detached' });
  });

  await t.test('shows the orders of a least total only', async () => {
    await all.getByRole('slider').fill('100');
    await all.getByText('No update yet').waitFor();
    await produce('8', 'PLACED', '99.99');
    await produce('9', 'PLACED', '100.00');
    await all.getByText('100.00', { exact: true }).last().waitFor();
    assert.equal(await all.getByRole('listitem').count(), 1);
  });

  await t.test('shows what was written while the pod was away, and says that nothing was missed', async () => {
    await stage.stopPod();
    for (const status of ['PAID', 'SHIPPED']) await produce('9', status, '100.00');
    await produce('10', 'PLACED', '250.00');
    await stage.startPod();
    await all.getByRole('listitem').filter({ hasText: '250.00' }).waitFor();
    await all.getByRole('listitem').filter({ hasText: 'SHIPPED' }).waitFor();
    assert.equal(await all.locator('.hint span').textContent(), '4');
    assert.match((await stage.status.textContent())!, /Live.*resumed, nothing missed/);
  });

  await t.test('fills narrow and wide windows, is accessible in both colour schemes, and asks no other server', () =>
    stage.checkPage(),
  );
});
