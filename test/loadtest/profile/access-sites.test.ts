import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createReadStream, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { hotSites, siteTables } from '../../../loadtest/profile/access-sites.ts';
import type { HotSite } from '../../../loadtest/profile/access-sites.ts';
import type { ScriptCoverage } from '../../../loadtest/profile/executions.ts';
import { readIcLog } from '../../../loadtest/profile/ic-log.ts';
import { ScriptText } from '../../../loadtest/profile/script-text.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const EVENTS = 500;

/** V8's caches change as each name says. `shapes` have a property in common. */
const SITES = `// Commas, line ends and characters beyond ASCII are escaped in the log: \\n é
const shapes = Array.from({ length: 8 }, (_, i) => ({ ['own' + i]: i, common: i, 'é,\\n': i }));
function readOne(shape) { return shape.common; }
function readTwo(shape) { return shape.common; }
function readMany(shape) { return shape['é,\\n']; }
function writeMany(shape, value) { shape.common = value; }
function readKeys(shape, key) { return shape[key]; }
function readManyAtStart(shape) { return shape.common; }
export function start() { for (const shape of shapes) for (let i = 0; i < 100; i++) readManyAtStart(shape); }
export function flood(events) {
  for (let i = 0; i < events; i++) {
    readOne(shapes[0]);
    readTwo(shapes[i % 2]);
    readMany(shapes[i % 8]);
    writeMany(shapes[i % 8], i);
    if (i % 2 === 0) readKeys(shapes[i % 8], 'own' + (i % 8));
  }
}
`;

const PROGRAM = `import { ExecutionCounter } from ${JSON.stringify(import.meta.resolve('../../../loadtest/servers/execution-counter.js'))};
const counter = new ExecutionCounter();
await counter.start();
const { start, flood } = await import('./sites.mjs');
start();
await counter.write(process.argv[2]);
flood(${EVENTS});
await counter.write(process.argv[2]);
`;

describe('hotSites', () => {
  it('names the polymorphic and megamorphic accesses that a real flood executes, and neither others nor those of the start', async (t) => {
    const folder = await temporaryFolder(t);
    const [counts, log] = [join(folder, 'executions.json'), join(folder, 'v8.log')];
    await writeFile(join(folder, 'sites.mjs'), SITES);
    await writeFile(join(folder, 'program.mjs'), PROGRAM);
    const flags = ['--log-ic', `--logfile=${log}`, '--no-logfile-per-isolate'];
    await promisify(execFile)(process.execPath, [...flags, join(folder, 'program.mjs'), counts]);

    const lineOf = (text: string) => SITES.split('\n').findIndex((line) => line.includes(text)) + 1;
    const readMany = `file://${join(folder, 'sites.mjs')}:${lineOf('readMany(shape)')}:18`;
    const sites = hotSites({
      log: await readIcLog(createInterface({ input: createReadStream(log) })),
      executions: JSON.parse(await readFile(counts, 'utf8')) as ScriptCoverage[],
      events: EVENTS,
      shares: new Map([[readMany, 0.25]]),
    }).filter(({ file }) => file.endsWith('sites.mjs'));

    const found = sites.map(({ site, line, executionsPerEvent, share }) => ({
      access: `${site.kind} ${site.functionName}:${line - lineOf(`function ${site.functionName}(`)}`,
      property: site.kind.startsWith('Keyed') ? '' : site.property,
      state: site.state,
      maps: Math.min(site.maps, 5),
      executionsPerEvent,
      share,
    }));
    const named = (name: string) => found.filter(({ access }) => access.endsWith(`${name}:0`));
    const expected = { executionsPerEvent: 1, share: 0 };
    assert.deepEqual(named('readTwo'), [{ ...expected, access: 'Load readTwo:0', property: 'common', state: 'polymorphic', maps: 2 }]); // prettier-ignore
    assert.deepEqual(named('readMany'), [{ access: 'Load readMany:0', property: 'é,\n', state: 'megamorphic', maps: 5, executionsPerEvent: 1, share: 0.25 }]); // prettier-ignore
    assert.deepEqual(named('writeMany'), [{ ...expected, access: 'Store writeMany:0', property: 'common', state: 'megamorphic', maps: 5 }]); // prettier-ignore
    const [keyed] = named('readKeys');
    assert.deepEqual([keyed?.state, keyed?.executionsPerEvent], ['megamorphic', 0.5]);
    assert.deepEqual(named('readOne'), []);
    assert.deepEqual(named('readManyAtStart'), []);
  });
});

describe('siteTables', () => {
  const site = {
    script: '',
    column: 1,
    functionName: 'read',
    functionPlace: '1:1',
    kind: 'Load',
    property: 'name',
    maps: 9,
  };
  const at = (file: string, state: 'polymorphic' | 'megamorphic', executionsPerEvent: number): HotSite => ({
    file,
    line: 7,
    site: { ...site, line: 7, state },
    executionsPerEvent,
    share: 0.0123,
  });

  it("separates crier's accesses from those of packages and of Node, and omits the benchmark's own", () => {
    const [own, packages] = siteTables([
      at('src/gateway/fanout/hub.ts', 'megamorphic', 4000.4),
      at('node_modules/ws/lib/sender.js', 'polymorphic', 1.5),
      at('node:net', 'polymorphic', 1.25),
      at('loadtest/servers/probe.ts', 'megamorphic', 1),
    ]).split('## Packages and Node') as [string, string];
    assert.match(
      own,
      /^\| src\/gateway\/fanout\/hub\.ts:7 \| read \| `\.name` \| megamorphic \| 9 \| 4,000 \| 1\.23 % \|$/m,
    );
    assert.match(packages, /^\| node_modules\/ws\/lib\/sender\.js:7 .* 1\.50 .*\n\| node:net:7 .* 1\.25 /m);
    assert.doesNotMatch(own, /ws|node:|probe/);
    assert.doesNotMatch(packages, /hub|probe/);
  });
});

describe('ScriptText', () => {
  it('finds the place in the source file through the source map of the build', () => {
    const path = new URL('../../../src/gateway/fanout/hub.js', import.meta.url).pathname;
    const text = readFileSync(path, 'utf8');
    const before = text.slice(0, text.indexOf('class Hub ')).split('\n');
    const script = new ScriptText(path, text);
    const [line, column] = [before.length, before.at(-1)!.length + 1];
    assert.equal(script.offset(line, column), text.indexOf('class Hub '));
    const source = readFileSync('src/gateway/fanout/hub.ts', 'utf8').split('\n');
    const expected = source.findIndex((text) => text.includes('class Hub ')) + 1;
    assert.deepEqual(script.sourcePlace(line, column), { file: 'src/gateway/fanout/hub.ts', line: expected });
  });

  it('names the script itself without a source map', () => {
    const script = new ScriptText('node:net', 'a\nb');
    assert.deepEqual([script.sourcePlace(2, 1), script.offset(2, 1)], [{ file: 'node:net', line: 2 }, 2]);
  });
});
