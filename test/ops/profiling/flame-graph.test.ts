import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { callTree } from '../../../src/ops/profiling/cpu-profile.ts';
import type { CpuProfile } from '../../../src/ops/profiling/cpu-profile.ts';
import { flameGraph } from '../../../src/ops/profiling/flame-graph.ts';

function node(id: number, functionName: string, children: readonly number[] = [], url = '') {
  return { id, callFrame: { functionName, url, lineNumber: 6, columnNumber: 0 }, children };
}

const profile: CpuProfile = {
  nodes: [
    node(1, '(root)', [2, 3, 4]),
    node(2, '(idle)'),
    node(3, 'read', [5], 'file:///home/me/crier/node_modules/ioredis/built/a.js'),
    node(4, 'a<b>'),
    node(5, 'parse'),
  ],
  samples: [3, 5, 2, 4, 5],
  // The last sample has no time of its own.
  timeDeltas: [100, 300, 500, 9000, 200],
};

describe('callTree', () => {
  it('gives each sample the time until the next one, without idle time', () => {
    const root = callTree(profile);
    assert.deepEqual(root.callees.map(({ frame }) => frame.functionName), ['read', 'a<b>']); // prettier-ignore
    const [read, other] = root.callees;
    assert.deepEqual([root.totalUs, read!.totalUs, read!.selfUs, other!.totalUs], [1000, 800, 300, 200]);
  });
});

describe('flameGraph', () => {
  const hues = [
    { name: 'reading', color: '#00f' },
    { name: 'rest', color: '#ccc' },
  ];
  const svg = flameGraph('T & U', callTree(profile), hues, ({ functionName }) =>
    functionName === 'read' ? hues[0] : undefined,
  );
  const box = (title: string) => svg.split('\n').find((line) => line.includes(`<title>${title}`))!;

  it('draws each call above its caller, as wide as its share, in the colour of its stage or of its caller', () => {
    const [all, read, parse] = [box('(root): 100.0 %'), box('read, '), box('parse: 50.0 %')];
    const figure = (line: string, name: string) => Number(new RegExp(`<rect[^>]* ${name}="([\\d.]+)"`).exec(line)?.[1]);
    assert.ok(Math.abs(figure(read, 'width') / figure(all, 'width') - 0.8) < 0.01);
    assert.ok(figure(all, 'y') > figure(read, 'y') && figure(read, 'y') > figure(parse, 'y'));
    assert.match(all, /fill="#ccc"/);
    assert.match(read, /fill="#00f"/);
    assert.match(parse, /fill="#00f"/);
  });

  it('draws nothing for a profile without samples', () => {
    const empty = callTree({ nodes: [node(1, '(root)')], samples: [], timeDeltas: [] });
    assert.doesNotMatch(
      flameGraph('', empty, hues, () => undefined),
      /NaN|Infinity|<title>/,
    );
  });

  it('names files relative to the project, and escapes names', () => {
    assert.match(svg, /<title>read, node_modules\/ioredis\/built\/a\.js:7: 80\.0 %<\/title>/);
    assert.doesNotMatch(svg, /home/);
    assert.match(svg, /T &#38; U|T &amp; U/);
    assert.doesNotMatch(svg, /a<b>/);
  });
});
