import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { Crier } from './crier.ts';

const SCHEMA = 'type Subscription { ticked: Tick @kafka(topic: "ticks") }\ntype Tick { n: Int, text: String }\n';
const SAMPLES = `export function* records() { for (let n = 1; ; n++) yield { topic: 'ticks', value: { n } }; }\n`;
const resolvers = (text: string) => `export const Tick = { text: () => '${text}' };\n`;

it('crier dev reloads a changed graph under live subscriptions, keeps the former one while the new one is broken, and says once what is wrong and when it is fixed', async (t) => {
  const folder = await graphFolder(t, {
    'schema.graphql': SCHEMA,
    'samples.js': SAMPLES,
    'resolvers.js': resolvers('first'),
  });
  const settings = { HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', SAMPLE_INTERVAL_MS: '50' };
  const dev = new Crier(t, ['dev', folder], settings);
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
