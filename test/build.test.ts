import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import type { SourceMapPayload } from 'node:module';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { transformAsync } from '@babel/core';

/** Compiles as the build does: with the project's babel.config.js, as a file of src. */
async function build(source: string, callerName = '@babel/cli'): Promise<string> {
  const result = await transformAsync(source, {
    filename: resolve('src/sample.ts'),
    cwd: resolve('.'),
    caller: { name: callerName },
  });
  return result?.code ?? '';
}

describe('the build', () => {
  const modernSource = [
    'class Auction {',
    '  #bids = [];',
    '  static #count = 0;',
    '  static {',
    '    Auction.#count ??= 1;',
    '  }',
    '  async *bids(limit = 10, ...rest) {',
    '    for await (const bid of this.#bids) yield { ...bid, limit };',
    '    return rest?.[0]?.name ?? (await Promise.all([...rest]));',
    '  }',
    '}',
    'const { id, ...others } = await load(`a ${1n ** 2n} template`);',
    'try {} catch {}',
    'others.name ||= id;',
    'export { Auction };',
  ].join('\n');

  const squeeze = (code: string) => code.replaceAll(/\s+/g, '');

  it('keeps syntax that the running Node supports: nothing is down-levelled, no helper is added', async () => {
    assert.equal(squeeze(await build(modernSource)), squeeze(modernSource));
  });

  it('changes the same source when it targets a browser (twin)', async () => {
    const browser = { targets: { ie: '11' }, modules: false };
    const result = await transformAsync(modernSource, { configFile: false, presets: [['@babel/preset-env', browser]] });
    assert.match(result?.code ?? '', /_asyncToGenerator|regenerator/);
  });

  it('removes types, and only type imports', async () => {
    const code = await build(
      "import type { A } from './a.ts';\nimport { b, type C } from './b.ts';\nconst a: A = b as C;\nexport type { A };",
    );
    assert.equal(code, 'import { b } from "./b.js";\nconst a = b;');
  });

  it('replaces Proxy.lazy', async () => {
    const code = await build('export const loaders = Proxy.lazy({ seller: create() });');
    assert.doesNotMatch(code, /Proxy\.lazy\(/);
    assert.match(code, /seller: _Lazy\.unbuilt/);
  });

  it('compiles a graph in place: Proxy.lazy is replaced, imports keep their names', async () => {
    const code = await build("import { a } from './a.ts';\nexport const b = Proxy.lazy({ a });", 'crier-graph');
    assert.match(code, /from '\.\/a\.ts'/);
    assert.match(code, /a: _Lazy\.unbuilt/);
  });
});

describe('the bundle of a pod', () => {
  const folder = join('dist', 'src', 'bundle');

  // Node decodes the map of a chunk, which holds up events, when a stack trace first names it.
  it('has source maps with one place for a line at most, and without sources', async () => {
    const maps = (await readdir(folder)).filter((name) => name.endsWith('.map'));
    assert.ok(maps.length > 5, `${maps.length} maps`);
    for (const name of maps) {
      const text = await readFile(join(folder, name), 'utf8');
      const { mappings, sourcesContent } = JSON.parse(text) as { mappings: string; sourcesContent?: string[] };
      assert.equal(sourcesContent, undefined, name);
      assert.ok(!mappings.includes(','), name);
    }
  });

  it('has source maps that give the line of the source', async () => {
    const name = join(folder, 'gateway-stage.js');
    const map = new SourceMap(JSON.parse(await readFile(`${name}.map`, 'utf8')) as SourceMapPayload);
    const lines = (await readFile(name, 'utf8')).split('\n');
    const line = lines.findIndex((text) => text.includes('async function startGateway('));
    const entry = map.findEntry(line, lines[line]!.indexOf('startGateway'));
    assert.ok('originalSource' in entry);
    const source = (await readFile(join(folder, entry.originalSource), 'utf8')).split('\n');
    assert.match(source[entry.originalLine]!, /^export async function startGateway\(/);
  });
});
