import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { Crier } from './crier.ts';

const SCHEMA = 'type Subscription { ticked: Tick @kafka(topic: "ticks") }\ntype Tick { n: Int, text: String }\n';
const SAMPLES = `export function* records() { for (let n = 1; ; n++) yield { topic: 'ticks', value: { n } }; }\n`;
const resolvers = (text: string) => `export const Tick = { text: () => '${text}' };\n`;

const SETTINGS = { HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', SAMPLE_INTERVAL_MS: '50' };

describe('crier dev, where the graph is broken at its start', () => {
  const BROKEN = SCHEMA.replace('n: Int', 'n Int');
  const FRAME =
    /not started, the graph has mistakes:\n {2}schema\.graphql:2:\d+: Syntax Error.*\n\n {2}1 \| type Sub.*\n {2}2 \| type Tick .*\n {4}\| +\^\n {2}3 \| *\nwatching /;

  async function brokenDev(t: TestContext) {
    const folder = await graphFolder(t, {
      'schema.graphql': BROKEN,
      'samples.js': SAMPLES,
      'resolvers.js': resolvers('first'),
    });
    const dev = new Crier(t, ['dev', folder], SETTINGS);
    await dev.until('the place of the mistake', () => FRAME.test(dev.output));
    return { folder, dev };
  }

  it('shows each mistake, starts once they are corrected, and reloads from then on', async (t) => {
    const { folder, dev } = await brokenDev(t);
    await writeFile(join(folder, 'schema.graphql'), SCHEMA.replace('text: String', 'words: String'));
    await dev.until('the next mistake', () => dev.output.includes('resolvers.js: Tick.text is not a field'));
    await writeFile(join(folder, 'schema.graphql'), SCHEMA);
    await dev.until('the start', () => dev.output.includes('the graph is reloaded when a file changes'));
    const [url] = /ws:[^"]+/.exec(dev.output)!;
    const tail = new Crier(t, ['tail', 'subscription { ticked { n text } }', '--url', url]);
    await tail.until('an event', () => tail.output.includes('first'));
    await writeFile(join(folder, 'resolvers.js'), resolvers('second'));
    await tail.until('an event of the changed graph', () => tail.output.includes('second'));
    dev.process.kill('SIGTERM');
    assert.equal(await dev.ended, 0);
  });

  it('ends with 0 after Ctrl-C', async (t) => {
    const { dev } = await brokenDev(t);
    dev.process.kill('SIGINT');
    assert.equal(await dev.ended, 0);
  });

  it('ends with 1 where there is no folder, and proposes the one that is meant', async (t) => {
    const folder = await graphFolder(t, { 'graph/schema.graphql': SCHEMA });
    const dev = new Crier(t, ['dev', join(folder, 'grpah')], SETTINGS);
    assert.equal(await dev.ended, 1);
    assert.equal(dev.errors, `crier: ${folder}/grpah: no such folder; did you mean "graph"?\n`);
  });
});

it('crier dev reloads a changed graph under live subscriptions, keeps the former one while the new one is broken, and says once what is wrong and when it is fixed', async (t) => {
  const folder = await graphFolder(t, {
    'schema.graphql': SCHEMA,
    'samples.js': SAMPLES,
    'resolvers.js': resolvers('first'),
  });
  const dev = new Crier(t, ['dev', folder], SETTINGS);
  await dev.until('the watch', () => dev.output.includes(`watching ${folder}`));
  const [url] = /ws:[^"]+/.exec(dev.output)!;
  const tail = new Crier(t, ['tail', 'subscription { ticked { n text } }', '--url', url]);
  await tail.until('an event', () => tail.output.includes('first'));
  await writeFile(join(folder, 'resolvers.js'), resolvers('second'));
  await tail.until('an event of the changed graph', () => tail.output.includes('second'));
  await dev.until('the report', () => /reloaded in \d+ ms/.test(dev.output));
  await writeFile(join(folder, 'schema.graphql'), SCHEMA.replace('text: String', 'words: String'));
  await dev.until('the refusal', () => dev.output.includes('not reloaded'));
  assert.match(
    dev.output,
    /not reloaded, the graph is served as before:\n {2}resolvers\.js: Tick\.text is not a field/,
  );
  await writeFile(join(folder, 'schema.graphql'), SCHEMA.replace('n: Int', 'n Int'));
  await dev.until('the place of the mistake', () =>
    /\n {2}schema\.graphql:2:\d+: Syntax Error.*\n\n {2}1 \| type Sub.*\n {2}2 \| type Tick .*\n {4}\| +\^\n/.test(
      dev.output,
    ),
  );
  const count = tail.lines.length;
  await tail.until('further events', () => tail.lines.length > count + 2);
  assert.doesNotMatch(tail.errors, /closed/);
  await writeFile(join(folder, 'schema.graphql'), SCHEMA);
  await dev.until('the fix', () => dev.output.includes('fixed: the graph is the one that is served'));
  assert.equal(`${dev.output}${dev.errors}`.match(/Tick\.text is not a field/g)?.length, 1);
  dev.process.kill('SIGTERM');
  assert.equal(await dev.ended, 0);
});
