import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Page } from 'playwright-core';
import type { Scope } from './socket.ts';

const CHROMIUM = '/usr/bin/chromium';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** An empty page of a fresh headless Chromium, which is closed with the scope. @param width of the window */
export async function openPage(t: Scope, width = 1280, colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
  const profile = await mkdtemp(join(tmpdir(), 'crier-chromium-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    headless: true,
    args: FLAGS,
    viewport: { width, height: 800 },
    colorScheme,
  });
  t.after(async () => {
    await context.close();
    await rm(profile, { recursive: true, force: true });
  });
  return context.pages()[0] ?? (await context.newPage());
}

/** To see a page: SCREENSHOTS=/tmp/pages writes /tmp/pages/<name>.png. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS'];
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** Calls `check` with the page in each of four looks, such as `dark-400`: 400 and 1280 pixels wide, light and dark. */
export async function inEachLook(page: Page, check: (look: string, width: number) => Promise<void>): Promise<void> {
  for (const width of [1280, 400]) {
    await page.setViewportSize({ width, height: 800 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await check(`${colorScheme}-${width}`, width);
    }
  }
}

/** True if nothing is wider than the window. */
export function fitsWidth(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const { document, innerWidth } = globalThis as unknown as {
      document: { documentElement: { scrollWidth: number } };
      innerWidth: number;
    };
    return document.documentElement.scrollWidth <= innerWidth;
  });
}
