import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { median } from '../../loadtest/runner/spread.ts';
import { Container } from '../../stack/container.ts';
import { baseVersion, imageBase } from '../../stack/image-base.ts';
import { Image } from '../../stack/image.ts';
import { IMAGE_PROGRAMS, installPrograms, missingPrograms } from '../../stack/programs.ts';
import { podEnvironment } from '../end-to-end/pod.ts';
import { spawnPod } from '../end-to-end/pod-process.ts';
import type { PodProcess } from '../end-to-end/pod-process.ts';
import { watch } from '../support/stock-client.ts';

const REVISION = '33019c5f06a1';
/** Of all files but Node. */
const MAX_BYTES = 150 * 2 ** 20;
const EVENT = 'subscription { auction_updated(auction_id: 3005177) { auction_id } }';

describe('the image', { timeout: 10 * 60_000 }, () => {
  let image: Image;
  let root: string;

  before(async () => {
    await installPrograms(await missingPrograms(IMAGE_PROGRAMS));
    image = await Image.build(REVISION);
    root = await image.mount();
  });
  after(() => image.remove());

  async function createPod(t: TestContext): Promise<{ container: Container; pod: PodProcess }> {
    const container = await Container.create(image.config, root, podEnvironment({ EMBEDDED: 'true' }));
    t.after(() => container.remove());
    return { container, pod: spawnPod(t, {}, { command: container.command }) };
  }

  it('has at most 150 MiB beside Node, and no package of tests or builds', async (t) => {
    const node = join(root, 'usr/local/bin/node');
    const { stdout } = await promisify(execFile)('du', ['-sb', `--exclude=${node}`, root]);
    const bytes = Number.parseInt(stdout, 10);
    t.diagnostic(`${Math.round(bytes / 2 ** 20)} MiB`);
    const { devDependencies } = JSON.parse(await readFile('package.json', 'utf8')) as Record<'devDependencies', object>;
    const { stdout: packages } = await promisify(execFile)('ls', [join(root, 'app/node_modules')]);
    assert.ok(bytes <= MAX_BYTES, `${bytes} bytes`);
    assert.deepEqual(
      packages.split('\n').filter((name) => Object.hasOwn(devDependencies, name)),
      [],
    );
  });

  it('serves its first event as user 10001, without capabilities, on files that it cannot write; is healthy; drains', async (t) => {
    const { container, pod } = await createPod(t);
    await pod.started();
    const subscription = watch(t, pod.url, EVENT);
    await subscription.event();
    const status = await container.run(['cat', '/proc/1/status']);
    assert.match(status, /^Uid:\t10001\t/m);
    assert.match(status, /^Gid:\t10001\t/m);
    assert.match(status, /^CapEff:\t0+$/m);
    assert.match(status, /^NoNewPrivs:\t1$/m);
    await assert.rejects(container.run(['touch', '/app/file']), /Read-only file system/);
    const adminPort = new URL(pod.admin).port;
    await container.run(['env', `ADMIN_PORT=${adminPort}`, ...image.config.healthCheck]);
    await assert.rejects(container.run(['env', 'ADMIN_PORT=1', ...image.config.healthCheck]));
    assert.match(await container.run(['node', 'dist/src/main.js', '--version']), new RegExp(`\\+${REVISION}$`, 'm'));
    assert.equal(await pod.stop(), 0);
    assert.equal(await subscription.closed(), 1001);
  });

  it('starts in at most 1.5 times the time of a checkout with the same Node', async (t) => {
    const node = join(await imageBase(await baseVersion()), 'usr/local/bin/node');
    const [, ...words] = image.config.command;
    const times: Record<'image' | 'checkout', number[]> = { image: [], checkout: [] };
    const time = async (what: keyof typeof times, pod: PodProcess) => {
      const startedAt = performance.now();
      await pod.started();
      times[what].push(performance.now() - startedAt);
      await pod.stop();
    };
    for (let round = 0; round < 5; round++) {
      await time('image', (await createPod(t)).pod);
      await time('checkout', spawnPod(t, { EMBEDDED: 'true', NODE_ENV: 'production' }, { command: [node, ...words] }));
    }
    const [ofImage, ofCheckout] = [median(times.image), median(times.checkout)];
    t.diagnostic(`image ${Math.round(ofImage)} ms, checkout ${Math.round(ofCheckout)} ms`);
    assert.ok(ofImage <= 1.5 * ofCheckout, `${ofImage} ms and ${ofCheckout} ms`);
  });
});

describe('the base image of the tests', () => {
  it('has the versions of the Dockerfile, and differs from its image in what Debian and npm do not have', async () => {
    const { node, debian } = await baseVersion();
    assert.match(await readFile('Dockerfile', 'utf8'), new RegExp(`^ARG NODE_IMAGE=node:${node}-${debian}-slim$`, 'm'));
    const folder = await imageBase({ node, debian });
    const { stdout } = await promisify(execFile)('chroot', [folder, 'node', '--version']);
    assert.equal(stdout.trim(), `v${node}`);
    assert.match(
      await readFile(join(folder, 'etc/os-release'), 'utf8'),
      new RegExp(`^VERSION_CODENAME=${debian}$`, 'm'),
    );
  });
});
