import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { violations } from '../support/axe.ts';
import { fitsWidth, openPage } from '../support/browser.ts';
import { serveFolder } from './static-server.ts';

const SITE = join('site', 'dist');
/** One of each part, and among them the widest tables and the longest blocks of code. */
const SHOWN = ['index', 'learn/start', 'recipes/no-events', 'reference/formats', 'why/guarantees'];

const filesOf = (folder: string, ending: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith(ending));

/** VitePress's, whose label lacks the keys that it shows. */
const SEARCH_BUTTON = '.DocSearch-Button';

describe('the site of docs/', { timeout: 300_000 }, () => {
  before(async () => {
    // `npm test` passes on this project's engine-strict.
    const environment = { ...process.env, npm_config_engine_strict: 'false' };
    await promisify(execFile)('npm', ['run', '-s', 'site'], { env: environment, maxBuffer: 2 ** 24 });
  });

  it('has each page of docs/ in its sidebar', async () => {
    const { PARTS } = (await import(pathToFileURL(resolve('site/.vitepress/sidebar.js')).href)) as {
      PARTS: Record<string, string[]>;
    };
    const pages = filesOf('docs', '.md').map((name) => name.replace('.md', ''));
    assert.deepEqual(Object.values(PARTS).flat().sort(), pages.filter((name) => name !== 'index').sort());
  });

  it('links to pages, files and headings that exist', () => {
    const pages = new Map(filesOf(SITE, '.html').map((name) => [name, readFileSync(join(SITE, name), 'utf8')]));
    const files = new Set(filesOf(SITE, ''));
    let count = 0;
    for (const [name, html] of pages) {
      for (const [, link] of html.matchAll(/\b(?:href|src)="((?!https?:|data:|mailto:)[^"]+)"/g)) {
        const [path, anchor] = link!.split('#') as [string, string?];
        const target = path === '' ? name : path.startsWith('/') ? path.slice(1) : join(dirname(name), path);
        const file = target === '' || target.endsWith('/') ? `${target}index.html` : target;
        assert.ok(files.has(file), `${name}: ${link}`);
        if (anchor) {
          const id = decodeURIComponent(anchor);
          assert.ok(pages.get(file)!.includes(`id="${id}"`), `${name}: ${link}`);
        }
        count++;
      }
    }
    assert.ok(count > 1000, `${count} links`);
  });

  it('finds a word by its search, without another server', async (t) => {
    const url = await serveFolder(t, SITE);
    const page = await openPage(t);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(url);
    await page
      .getByRole('button', { name: /search/i })
      .first()
      .click();
    await page.getByRole('searchbox').fill('tombstone');
    await page.getByRole('option').first().waitFor();
    await page.getByRole('option').first().click();
    await page.waitForURL(/\.html/);
    await page
      .locator('main')
      .getByText(/tombstone/i)
      .first()
      .waitFor();
    assert.deepEqual(
      asked.filter((one) => !one.startsWith(url) && !one.startsWith('data:')),
      [],
    );
  });

  for (const scheme of ['light', 'dark'] as const) {
    for (const width of [400, 1280]) {
      it(`fits into ${width} pixels and is accessible, ${scheme}`, async (t) => {
        const url = await serveFolder(t, SITE);
        const page = await openPage(t, width, scheme);
        const errors: string[] = [];
        const found: string[] = [];
        page.on('pageerror', ({ message }) => errors.push(message));
        const folder = await mkdtemp(join(tmpdir(), 'crier-site-'));
        t.diagnostic(`screenshots: ${folder}`);
        for (const name of SHOWN) {
          await page.goto(`${url}${name}.html`);
          await page.locator('main').waitFor();
          await page.screenshot({ path: join(folder, `${name.replace('/', '-')}.png`) });
          assert.ok(await fitsWidth(page), name);
          assert.ok(!(await page.locator('body').innerText()).includes('{{'), name);
          found.push(...(await violations(page, [SEARCH_BUTTON])).map((one) => `${name}: ${one}`));
        }
        assert.deepEqual(found, []);
        assert.deepEqual(errors, []);
      });
    }
  }
});
