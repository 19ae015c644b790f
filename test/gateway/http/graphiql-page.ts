import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { openPage } from '../../support/browser.ts';
import { waitFor } from '../../support/wait-for.ts';

export interface GraphiqlPage {
  readonly page: Page;
  /** URLs of all requests and sockets that the page opened. */
  readonly requests: readonly string[];
  /** Console messages of level error and warning, uncaught errors, failed requests. */
  readonly complaints: readonly string[];
  /** The text of the operation editor. */
  operation(): Promise<string>;
  /** The line below the editors: the state of the connection, and what becomes of the subscription that runs. */
  status(): Promise<string>;
  /** Replaces the text of the operation editor by one operation, which must have a name. */
  type(operation: string): Promise<void>;
  /** Types into the Headers editor. */
  typeHeaders(text: string): Promise<void>;
  /** Presses the run button; while a subscription runs the same button stops it. */
  pressRun(): Promise<void>;
  /** True while a subscription runs. */
  isRunning(): Promise<boolean>;
  /** The text of the result pane. */
  result(): Promise<string>;
  /** Resolves with the result pane's text as soon as `matches` accepts it. */
  waitForEvent(matches: (result: string) => boolean, timeoutMs?: number): Promise<string>;
}

/** Opens crier's GraphiQL in a fresh headless Chromium, which is closed at the end of the test. */
export async function openGraphiql(
  t: TestContext,
  url: string,
  width?: number,
  colorScheme?: 'light' | 'dark',
): Promise<GraphiqlPage> {
  const page = await openPage(t, width, colorScheme);
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('websocket', (socket) => requests.push(socket.url()));
  page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  await page.goto(url);
  const editor = page.locator('.graphiql-query-editor .monaco-editor');
  await editor.waitFor();
  const button = page.locator('.graphiql-execute-button');
  const result = () => textOf(page, '.graphiql-response');
  return {
    page,
    requests,
    complaints,
    operation: () => textOf(page, '.graphiql-query-editor'),
    type: async (operation) => {
      await editor.click();
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.insertText(operation);
      // The tab shows the name as soon as GraphiQL knows it; run before, it would send the name of the former operation.
      await page.locator('.graphiql-tab-active', { hasText: /^\s*\w+\s+(\w+)/.exec(operation)![1]! }).waitFor();
    },
    typeHeaders: async (text) => {
      await page.getByRole('button', { name: 'Headers' }).click();
      await page.locator('.graphiql-editor-tool .monaco-editor:visible').click();
      await page.keyboard.insertText(text);
    },
    pressRun: () => button.click(),
    isRunning: async () => /stop/i.test((await button.getAttribute('aria-label')) ?? ''),
    result,
    status: async () => (await page.locator('#status').innerText()).replaceAll(/\s+/g, ' '),
    waitForEvent: (matches, timeoutMs) =>
      waitFor(
        'an event in the result pane',
        async () => {
          const text = await result();
          return matches(text) ? text : undefined;
        },
        timeoutMs,
      ),
  };
}

/** The visible lines of a Monaco editor. Their elements are in no order; where they are drawn is. */
async function textOf(page: Page, selector: string): Promise<string> {
  const lines = await page
    .locator(`${selector} .view-line`)
    .evaluateAll((elements) =>
      (elements as unknown as { offsetTop: number; textContent: string }[])
        .map(({ offsetTop, textContent }) => ({ offsetTop, textContent }))
        .sort((a, b) => a.offsetTop - b.offsetTop),
    );
  return lines.map(({ textContent }) => textContent.replaceAll('\u00a0', ' ')).join('\n');
}
