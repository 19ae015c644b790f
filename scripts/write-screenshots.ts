import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { freePorts } from '../stack/port.ts';

/** `npm run docs:screenshots`: the pictures of docs/learn, of the pages of a server in the embedded mode. */
const FOLDER = 'docs/learn/images';
/** The longest that a server may take to start. */
const PATIENCE_MS = 30_000;
/** After so long the charts of /live have a shape. */
const CHART_MS = 45_000;

const [port, adminPort] = await freePorts(2);
const server = spawn(process.execPath, ['dist/src/main.js'], {
  env: {
    PATH: process.env['PATH'],
    PORT: `${port}`,
    ADMIN_PORT: `${adminPort}`,
    HOST: '127.0.0.1',
    LOG_LEVEL: 'error',
    POD_NAME: 'pod-1',
  },
  stdio: 'inherit',
});
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
try {
  await waitForServer(`http://127.0.0.1:${adminPort}/readyz`);
  const page = await browser.newPage({ viewport: { width: 1120, height: 620 } });
  await page.goto(`http://127.0.0.1:${port}/`);
  await page.locator('.graphiql-query-editor .monaco-editor').waitFor();
  await page.locator('.graphiql-execute-button').click();
  await page.locator('.graphiql-response .view-line', { hasText: '"data"' }).first().waitFor();
  await setTimeout(3000);
  await page.screenshot({ path: `${FOLDER}/graphiql.png` });
  const live = await browser.newPage({ viewport: { width: 1120, height: 620 } });
  await live.goto(`http://127.0.0.1:${adminPort}/live`);
  await setTimeout(CHART_MS);
  await live.screenshot({ path: `${FOLDER}/live.png`, clip: { x: 0, y: 0, width: 1120, height: 460 } });
} finally {
  await browser.close();
  server.kill('SIGTERM');
  await once(server, 'exit');
}

async function waitForServer(url: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    const isReady = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await setTimeout(100);
  }
  throw new Error(`${url} does not answer`);
}
