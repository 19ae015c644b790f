import assert from 'node:assert/strict';
import { resolve } from 'node:path';
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
