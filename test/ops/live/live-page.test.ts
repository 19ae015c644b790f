import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { createLog } from '../../../src/base/log.ts';
import { startServer } from '../../../src/server.ts';
import { freePorts } from '../../../stack/port.ts';
import type { Pod } from '../../end-to-end/pod.ts';
import { startPod } from '../../end-to-end/pod-server.ts';
import { violations } from '../../support/axe.ts';
import { fitsWidth, inEachLook, openPage, screenshot } from '../../support/browser.ts';
import { watch } from '../../support/stock-client.ts';
import { testConfig } from '../../support/switches.ts';
import { waitFor } from '../../support/wait-for.ts';

const PATIENCE_MS = 30_000;
const TOKEN = 'operators-only-'.padEnd(32, 'x');
const WATCHED = 'subscription Watched { auctions_updated { auction_id current_bid } }';

const BIDS = 'subscription Bids { bid_placed(auction_id: 3005177) { amount bidder { display_name } } }';

/** Opens a dashboard; what it complained of and which hosts it asked are kept. */
async function openLive(t: TestContext, url: string, width: number, colorScheme?: 'light' | 'dark') {
  const page = await openPage(t, width, colorScheme);
  const hosts = new Set<string>();
  const complaints: string[] = [];
  page.on('request', (request) => void hosts.add(new URL(request.url()).host));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  // Time passes as ever, and faster where a test says so.
  await page.clock.install();
  await page.goto(url);
  return { page, hosts, complaints };
}

const textOf = (page: Page, selector: string) => page.locator(selector).first().innerText();

/** Resolves with the text of an element once it matches. */
const shows = (page: Page, selector: string, pattern: RegExp) =>
  waitFor(
    `${selector}: ${String(pattern)}`,
    async () => {
      const text = await textOf(page, selector).catch(() => '');
      return pattern.test(text) ? text : undefined;
    },
    PATIENCE_MS,
  );

async function tileOf(page: Page, title: string): Promise<string> {
  return (await page.locator('.tile', { hasText: title }).innerText()).replaceAll(/\s+/g, ' ');
}

/** By keys; figures that come meanwhile, and the row's new place, take neither the focus nor the selected text. */
async function opensOperation(t: TestContext, pod: Pod, page: Page): Promise<void> {
  const button = page.getByRole('button', { name: /^Bids/ });
  await button.press('Enter');
  assert.equal(await button.getAttribute('aria-expanded'), 'true');
  const details = page.locator(`#${await button.getAttribute('aria-controls')}`);
  await details.getByText('bid_placed(auction_id: …)').waitFor();
  assert.match(await details.innerText(), /bid-events\{bid\.auction_id=…\}\s+1\s+1\s+1$/);
  assert.doesNotMatch(await details.innerText(), /3005177/);
  for (let i = 0; i < 6; i++) watch(t, pod.url, BIDS);
  await shows(page, 'tbody tr:first-child', /^Bids.+\s7$/s);
  assert.equal(await page.evaluate('document.activeElement.ariaExpanded'), 'true');
  await details.locator('pre').selectText();
  const selected = () => page.evaluate<string>('String(getSelection())');
  const text = await selected();
  assert.match(text, /^subscription Bids/);
  await page.evaluate(`document.querySelector('.deliveries_per_second button').click()`);
  await shows(page, 'tbody tr:first-child', /^Watched/);
  assert.equal(await selected(), text);
  await button.press('Space');
  assert.equal(await details.isVisible(), false);
  await button.press('Space');
  await details.locator('pre').waitFor();
  const isLookup = ({ searchParams }: URL) => searchParams.get('query')?.includes('crier_operation') === true;
  await page.route(isLookup, (route) =>
    route.fulfill({ json: { data: { crier_operation: null }, errors: [{ message: 'ask again later' }] } }),
  );
  for (let i = 0; i < 2; i++) await button.press('Space');
  await details.getByText('It could not be looked up: ask again later').waitFor();
  await page.unroute(isLookup);
  for (let i = 0; i < 2; i++) await button.press('Space');
  await details.locator('pre').waitFor();
}

/** A pod with sample records, and clients that watch some of them. */
async function busyPod(t: TestContext, settings: Readonly<Record<string, string>> = {}): Promise<Pod> {
  const pod = await startPod(t, { SAMPLE_INTERVAL_MS: '20', POD_NAME: 'crier-7d9f-x2x', ...settings });
  for (let i = 0; i < 5; i++) watch(t, pod.url, WATCHED);
  watch(t, pod.url, BIDS);
  await pod.counts('crier_deliveries_total', 10);
  return pod;
}

describe('/live in a browser', { timeout: 240_000 }, () => {
  it('shows what a pod does on one screen of 1280 px, without a request to another host', async (t) => {
    const pod = await busyPod(t);
    const { page, hosts, complaints } = await openLive(t, new URL('/live', pod.endpoint).href, 1280);
    await shows(page, '[role=status]', /^live$/);
    await shows(page, 'h1', /^auction$/);
    assert.match(await textOf(page, '.facts'), /^crier-7d9f-x2x · all · \d.+ · up /);
    await waitFor('rates', async () => /Deliveries [1-9][\d.]*\/s/.test(await tileOf(page, 'Deliveries')), PATIENCE_MS);
    assert.match(await tileOf(page, 'Latency'), /\d ms p99 · p50 \d/);
    assert.match(await tileOf(page, 'Shared results'), /[\d.]+ % \S+\/s executions/);
    assert.match(await tileOf(page, 'Sockets'), /^Sockets 6 6 6 operations/);
    assert.match(await tileOf(page, 'Heap'), /\d [MG]iB of \d/);
    assert.match(await tileOf(page, 'Event loop lag'), /\d ms [\d.]+ % busy/);
    assert.match(await textOf(page, 'tbody tr:first-child'), /Watched\s*auctions_updated/);
    const box = (await page.locator('.operations').boundingBox())!;
    assert.ok(box.y + box.height <= 800, `the last line is at ${box.y + box.height}`);
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    assert.match(await textOf(page, 'tbody tr:first-child'), /Watched.+\s5$/s);
    await opensOperation(t, pod, page);
    assert.deepEqual([...hosts], [new URL(pod.endpoint).host]);
    assert.deepEqual(complaints, []);
    // Lines need some seconds to be seen.
    if (process.env['SCREENSHOTS']) await page.waitForTimeout(15_000);
    await inEachLook(page, async (look) => {
      await screenshot(page, `live-${look}`);
      assert.equal(await fitsWidth(page), true);
      assert.deepEqual(await violations(page), [], look);
    });
  });

  it('asks for the token on the admin port, is readable at 400 px, and shows figures again after a restart of the pod with another token', async (t) => {
    const [port, admin] = (await freePorts(2)).map(String) as [string, string];
    const settings = { NODE_ENV: 'production', EMBEDDED: 'true', ADMIN_TOKEN: TOKEN, PORT: port, ADMIN_PORT: admin };
    const pod = await busyPod(t, settings);
    const { page, complaints } = await openLive(t, `${pod.admin}/live`, 400, 'dark');
    await shows(page, 'form', /expected the header "Authorization: Bearer/);
    await screenshot(page, 'live-400-token');
    assert.deepEqual(await violations(page), []);
    assert.equal(await page.locator('.tile').first().isVisible(), false);
    await page.getByLabel('ADMIN_TOKEN').fill('guessed');
    await page.getByRole('button', { name: 'Watch' }).click();
    await shows(page, '[role=status]', /^refused$/);
    await page.getByLabel('ADMIN_TOKEN').fill(`${TOKEN}…`);
    await page.getByRole('button', { name: 'Watch' }).click();
    await shows(page, 'form', /a character that an HTTP header cannot carry/);
    assert.equal(await textOf(page, '[role=status]'), 'refused');
    await page.getByLabel('ADMIN_TOKEN').fill(TOKEN);
    await page.getByRole('button', { name: 'Watch' }).click();
    await shows(page, '[role=status]', /^live$/);
    await waitFor('rates', async () => /Deliveries [1-9][\d.]*\/s/.test(await tileOf(page, 'Deliveries')), PATIENCE_MS);
    assert.equal(await fitsWidth(page), true);

    await pod.stop();
    await shows(page, '[role=status]', /^reconnecting: .+ old$/);
    await screenshot(page, 'live-400-reconnecting');
    const other = 'another-token-'.padEnd(32, 'y');
    const next = await startPod(t, { ...settings, ADMIN_TOKEN: other, POD_NAME: 'crier-7d9f-next' });
    await shows(page, '[role=status]', /^refused$/);
    // The age of the last figures is shown once a second, but not in place of what the person must do.
    await page.clock.runFor(5000);
    assert.equal(await textOf(page, '[role=status]'), 'refused');
    await page.getByLabel('ADMIN_TOKEN').fill(other);
    await page.getByRole('button', { name: 'Watch' }).click();
    await shows(page, '[role=status]', /^live$/);
    await shows(page, '.facts', /^crier-7d9f-next · /);
    await next.stop();
    assert.deepEqual(
      complaints.filter((text) => !/Failed to load resource|ERR_/.test(text)),
      [],
    );
  });

  it('says why the pod serves the figures to nobody, instead of asking for a token that cannot help', async (t) => {
    const config = testConfig({ PORT: '0', ADMIN_PORT: '0', ADMIN_HOST: '0.0.0.0' });
    const server = await startServer(config, createLog('silent'), { onFatal: (error) => assert.fail(error) });
    t.after(() => server.close());
    const { page } = await openLive(t, `http://127.0.0.1:${server.adminPort}/live`, 400);
    await shows(page, 'form', /served to nobody at this address \(403\): .+ set ADMIN_TOKEN/);
    assert.equal(await textOf(page, '[role=status]'), 'not served here');
    assert.equal(await page.getByLabel('ADMIN_TOKEN').isVisible(), false);
    assert.equal(await page.getByRole('button', { name: 'Watch' }).isVisible(), false);
    await screenshot(page, 'live-400-forbidden');
    assert.deepEqual(await violations(page), []);
  });
});
