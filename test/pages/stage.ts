import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { freePorts } from '../../stack/port.ts';
import type { Pod } from '../end-to-end/pod.ts';
import { spawnPod } from '../end-to-end/pod-process.ts';
import { violations } from '../support/axe.ts';
import { inEachLook, openPage, screenshot } from '../support/browser.ts';
import { randomName, redisServer } from '../support/services.ts';
import { startPageServer } from './page-server.ts';

interface StageOptions {
  readonly page: Page;
  readonly url: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** An example's page in a browser, in front of a pod on Redis that may be stopped and started again at its address. */
export class Stage {
  readonly page: Page;
  readonly url: string;
  readonly #t: TestContext;
  readonly #example: string;
  readonly #settings: Readonly<Record<string, string>>;
  /** URLs that the page asked for, and its uncaught errors. */
  readonly #requests: string[] = [];
  readonly #errors: string[] = [];
  #pod: Pod | undefined;

  constructor(t: TestContext, example: string, { page, url, settings }: StageOptions) {
    this.#t = t;
    this.#example = example;
    this.page = page;
    this.url = url;
    this.#settings = settings;
    page.on('request', (request) => this.#requests.push(request.url()));
    page.on('pageerror', (error) => this.#errors.push(error.message));
  }

  /** What the page says of its connection. */
  get status(): Locator {
    return this.page.locator('header').getByRole('status');
  }

  async startPod(): Promise<Pod> {
    this.#pod = await spawnPod(this.#t, this.#settings).started();
    return this.#pod;
  }

  /** Resolves when the page has noticed. */
  async stopPod(): Promise<void> {
    await this.#pod!.stop();
    await this.status.filter({ hasText: 'Connecting' }).waitFor();
  }

  /** The page asks nobody but its server, throws nothing, fills 400 and 1280 pixels, and axe finds nothing, in both colour schemes. */
  async checkPage(): Promise<void> {
    const { page } = this;
    await inEachLook(page, async (look, width) => {
      await screenshot(page, `${this.#example}-${look}`);
      const widths = '[document.documentElement.scrollWidth, document.body.offsetWidth]';
      assert.deepEqual(await page.evaluate(widths), [width, width], look);
      assert.deepEqual(await violations(page), [], look);
    });
    assert.deepEqual(
      this.#requests.filter((url) => !url.startsWith(this.url) && !url.startsWith('data:')),
      [],
    );
    assert.deepEqual(this.#errors, []);
  }
}

/** @param settings of the pod, beside GRAPH and those of Redis */
export async function openStage(
  t: TestContext,
  example: string,
  settings: Readonly<Record<string, string>>,
): Promise<Stage> {
  const [port] = await freePorts(1);
  const redis = await redisServer(t);
  const url = await startPageServer(t, example, `http://127.0.0.1:${port}`);
  const stage = new Stage(t, example, {
    page: await openPage(t),
    url,
    settings: {
      GRAPH: `examples/${example}`,
      PORT: `${port}`,
      REDIS_URL: redis.url,
      KAFKA_GROUP_ID: randomName(example),
      ...settings,
    },
  });
  await stage.startPod();
  await stage.page.goto(url);
  await stage.status.filter({ hasText: 'Live' }).waitFor();
  return stage;
}

/** Runs a program of an example until the end of the test. Resolves with a function that ends it, once it has printed something. */
export async function runProgram(
  t: TestContext,
  words: readonly string[],
  settings: Readonly<Record<string, string>>,
): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, words, {
    env: { PATH: process.env['PATH'], ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  t.after(() => void child.kill('SIGKILL'));
  await Promise.race([once(child.stdout, 'data'), ended]);
  assert.equal(child.exitCode, null, `${words.join(' ')} ended`);
  return async () => {
    child.kill('SIGTERM');
    await ended;
  };
}
