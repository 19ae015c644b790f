import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, readdir, realpath, rename, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { spawnPod } from '../end-to-end/pod-process.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { OtlpReceiver } from '../support/otlp-receiver.ts';
import { watch } from '../support/stock-client.ts';
import { waitFor } from '../support/wait-for.ts';

const run = promisify(execFile);

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
}

/** Copies the packages of a production installation: what `npm prune --omit=dev` leaves. */
async function copyProductionModules(folder: string): Promise<void> {
  const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as Lock;
  // Packages for other machines are not installed. Packages that are nested in another have entries of their own.
  const paths = Object.keys(packages).filter((path) => path !== '' && !packages[path]!.dev && existsSync(path));
  const filter = (source: string) => basename(source) !== 'node_modules';
  for (const path of paths) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await cp(path, join(folder, path), { recursive: true, filter });
  }
}

/** All files below a folder, as paths from it. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

/** Bytes of the files of each package, without those of packages nested in it; the largest first. */
async function packageSizes(modules: string): Promise<[name: string, bytes: number][]> {
  const sizes = new Map<string, number>();
  for (const file of await filesIn(modules)) {
    const [name] = /^(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(relative(modules, file))!;
    sizes.set(name, (sizes.get(name) ?? 0) + (await stat(file)).size);
  }
  return [...sizes].sort(([, a], [, b]) => b - a);
}

const MIB = 1024 * 1024;
/** They have 20.1 MiB. */
const MAX_BYTES = 24 * MIB;

const isLicence = (path: string) => /^licen[cs]e/i.test(basename(path));

describe('an image with pruned packages', () => {
  /** Like the image's /app: crier's build beside the pruned packages. */
  let app = '';
  let licences = 0;
  before(async () => {
    app = await realpath(await mkdtemp(join(tmpdir(), 'crier-image-')));
    for (const name of ['package.json', 'babel.config.js', 'plugins']) {
      await cp(name, join(app, name), { recursive: true });
    }
    for (const part of ['src', 'examples'])
      await cp(await realpath(join('dist', part)), join(app, 'dist', part), { recursive: true });
    await copyProductionModules(app);
    licences = (await filesIn(join(app, 'node_modules'))).filter(isLicence).length;
    await run(process.execPath, ['scripts/prune-modules.js', join(app, 'node_modules')]);
  });
  after(() => rm(app, { recursive: true, force: true }));
  const pod = (t: Parameters<typeof spawnPod>[0], settings: Readonly<Record<string, string>> = {}) =>
    spawnPod(t, settings, { folder: app, main: join(app, 'dist', 'src', 'main.js') }).started();

  it('serves the built-in graph, with fields from backends', async (t) => {
    const { url } = await pod(t);
    const query = 'subscription { auctions_updated { auction_id venue { name } } }';
    const { auctions_updated: auction } = await watch(t, url, query).event();
    assert.match((auction as { venue: { name: string } }).venue.name, /\w/);
  });

  it('exports spans', async (t) => {
    const collector = await new OtlpReceiver().start(t);
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER: 'always_on' };
    const { url } = await pod(t, { ...settings, SAMPLE_INTERVAL_MS: '50' });
    const client = watch(t, url, 'subscription { auctions_updated { auction_id } }');
    await client.event();
    await waitFor('a span', () => collector.spans.length > 0, 30_000);
  });

  it('compiles a TypeScript graph that a ConfigMap brings, which is a folder of symbolic links', async (t) => {
    const folder = await graphFolder(t, {
      '..version/schema.graphql': `
        type Subscription { order_updated: Order @kafka(topic: "orders") }
        type Order { order_id: ID! label: String }`,
      '..version/resolvers.ts': `
        import DataLoader from 'dataloader';
        import { labelOf } from './label.ts';
        enum Mark { Paid = 'paid' }
        const loaders = Proxy.lazy({ label: new DataLoader<string, string>(async (ids) => ids.map(labelOf)) });
        export const Order = {
          label: async ({ order_id }: { order_id: string }) => \`\${Mark.Paid}: \${await loaders.label.load(order_id)}\`,
        };`,
      '..version/label.ts':
        'export const labelOf = (id: string): string => id.replace(/(?<digits>\\p{Nd}+)/v, "no. $<digits>");',
      '..version/samples.ts': `
        export function* records() { for (;;) yield { topic: 'orders', value: { orderId: '7' } }; }`,
    });
    await rename(join(folder, '..version'), join(folder, '..2026_11_23'));
    await symlink('..2026_11_23', join(folder, '..data'));
    for (const name of ['schema.graphql', 'resolvers.ts', 'label.ts', 'samples.ts']) {
      await symlink(join('..data', name), join(folder, name));
    }
    const { url } = await pod(t, { GRAPH: folder, SAMPLE_INTERVAL_MS: '50' });
    const event = await watch(t, url, 'subscription { order_updated { label } }').event();
    assert.deepEqual(event, { order_updated: { label: 'paid: no. 7' } });
  });

  it('can load every package that crier or a graph imports, also one that is compiled for this machine', async () => {
    const manifest = JSON.parse(await readFile('package.json', 'utf8')) as Record<string, object>;
    const needed = { ...manifest['dependencies'], ...manifest['peerDependencies'] };
    const names = [...Object.keys(needed), 'graphql-ws/use/ws', 'lodash/fp.js', 'graphql/utilities/index.js'];
    const script = `
      import { createRequire } from 'node:module';
      for (const name of ${JSON.stringify(names)}) await import(name);
      createRequire(import.meta.url)('snappy').compressSync('text');
      createRequire(import.meta.url)('lz4-napi').compressSync(Buffer.from('text'));`;
    await run(process.execPath, ['--input-type=module', '-e', script], { cwd: app });
  });

  it('has at most 24 MiB of packages', async () => {
    const sizes = await packageSizes(join(app, 'node_modules'));
    const bytes = sizes.reduce((sum, [, size]) => sum + size, 0);
    const inMib = (size: number) => `${(size / MIB).toFixed(1)} MiB`;
    const largest = sizes.slice(0, 5).map(([name, size]) => `${name} (${inMib(size)})`);
    assert.ok(bytes <= MAX_BYTES, `${inMib(bytes)}, most of it in ${largest.join(', ')}`);
  });

  it('keeps the licences, and neither types, source maps nor tests', async () => {
    const files = await filesIn(join(app, 'node_modules'));
    assert.ok(licences > 100);
    assert.equal(files.filter(isLicence).length, licences);
    assert.deepEqual(
      files.filter((file) => /\.(?:[cm]?ts|map)$|\.test\.[cm]?js$/.test(file)),
      [],
    );
  });
});
