import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { commands } from '../../src/tools/commands.ts';
import { overview } from '../../src/tools/help.ts';
import { crier } from './crier.ts';
import { refusalOf } from './refusal.ts';

/** Of a terminal that is not enlarged. */
const LINES = 30;
const COLUMNS = 120;

describe('crier help', () => {
  it('says in its first line what the package and the chart say: all transports', async () => {
    const [first] = overview(commands).split('\n');
    const description = 'GraphQL subscriptions from Kafka topics, over WebSockets, SSE and multipart';
    assert.equal(first, `crier: ${description}.`);
    const manifest = JSON.parse(await readFile('package.json', 'utf8')) as { description: string };
    assert.equal(manifest.description, description);
    const chart = parse(await readFile('deploy/helm/crier/Chart.yaml', 'utf8')) as { description: string };
    assert.equal(chart.description, description);
  });

  it('names each command, and has no settings', () => {
    for (const name of Object.keys(commands)) assert.match(overview(commands), new RegExp(`^ {2}${name} `, 'm'));
    assert.doesNotMatch(overview(commands), /JWT_|MAX_/);
  });

  it(`fits a terminal of ${LINES} lines, for all commands and for each`, async () => {
    const texts = [['help', overview(commands)]];
    for (const [name, { load }] of Object.entries(commands)) texts.push([name, (await load()).usage]);
    for (const [name, text] of texts) {
      const lines = text!.trimEnd().split('\n');
      assert.ok(lines.length <= LINES, `${name}: ${lines.length} lines`);
      for (const line of lines) assert.ok(line.length <= COLUMNS, `${name}: ${line}`);
      assert.match(text!, /^Usage: crier /m);
    }
  });

  it('prints the same as --help, of a command, too', async (t) => {
    const outputs = async (...calls: readonly (readonly string[])[]) =>
      new Set((await Promise.all(calls.map((args) => crier(t, args)))).map(({ output }) => output));
    assert.equal((await outputs(['help'], ['--help'], ['-h'])).size, 1);
    const [usage, ...others] = await outputs(['help', 'tail'], ['tail', '--help'], ['tail', '-h'], ['--help', 'tail']);
    assert.deepEqual(others, []);
    assert.equal(usage, (await commands['tail']!.load()).usage);
  });

  it('proposes the command that is meant, and a folder to start', async () => {
    const { message } = await refusalOf(['help', 'tial']);
    assert.match(message, /^unknown command "tial"; commands are .*; did you mean "tail"\?$/);
    const folder = await refusalOf(['examples/orders']);
    assert.equal(
      folder.message,
      '"examples/orders" is a folder, not a command; did you mean "crier start examples/orders"?',
    );
  });
});
