import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { RULES, sharesOf, stageOf } from '../../../loadtest/fanout/stages.ts';
import type { Call } from '../../../loadtest/profile/call-tree.ts';

function call(functionName: string, url: string, selfUs: number, callees: readonly Call[] = []): Call {
  const totalUs = callees.reduce((sum, callee) => sum + callee.totalUs, selfUs);
  return { frame: { functionName, url, lineNumber: 0, columnNumber: 0 }, selfUs, totalUs, callees };
}

describe('sharesOf', () => {
  it('counts a call to its stage, or without a matching rule to the stage of its caller', () => {
    const written = call('writeBuffer', '', 20);
    const outbox = call('write', 'file:///crier/dist/src-0123456789ab/gateway/fanout/outbox/outbox.js', 10, [
      call('Writable.write', 'node:internal/streams/writable', 10, [written]),
    ]);
    const command = call('exec', 'file:///crier/node_modules/ioredis/built/Pipeline.js', 5, [
      call('Writable.write', 'node:internal/streams/writable', 15),
    ]);
    const turn = call('onTurn', 'file:///crier/dist/src/gateway/fanout/outbox/writer.js', 0, [outbox]);
    const root = call('(root)', '', 0, [
      call('processImmediate', 'node:internal/timers', 10, [turn]),
      command,
      call('(garbage collector)', '', 30),
    ]);
    const shares = Object.fromEntries(sharesOf(root).map(({ stage, percent }) => [stage, percent]));
    assert.deepEqual(shares, { redisOut: 20, write: 40, collect: 30, other: 10 });
  });

  it('distinguishes rewriting a record from parsing, renaming and printing it', () => {
    const at = (functionName: string, file: string) =>
      stageOf({ functionName, url: `file:///crier/dist/src/kafka/${file}.js`, lineNumber: 0, columnNumber: 0 });
    assert.equal(at('rewrite', 'decoding/converter'), 'rewrite');
    assert.equal(at('#endOfObject', 'decoding/key-rewriter'), 'rewrite');
    assert.equal(at('decodeRecord', 'decoding/record'), 'decode');
    assert.equal(at('convertObjToSnakeKeys', 'decoding/snake-case'), 'rename');
    assert.equal(at('#parse', 'decoding/converter'), 'printPayload');
    assert.equal(at('publish', 'record-publisher'), 'kafka');
  });

  it('distinguishes the two directions of a package', () => {
    const at = (functionName: string, url: string) => stageOf({ functionName, url, lineNumber: 0, columnNumber: 0 });
    assert.equal(at('publish', 'file:///crier/dist/src/bus/redis/redis-bus.js'), 'redisOut');
    assert.equal(at('', 'file:///crier/dist/src/bus/redis/redis-bus.js'), undefined);
    assert.equal(at('on', 'file:///crier/dist/src/bus/redis/redis-subscriber.js'), 'redisIn');
    assert.equal(at('write', 'file:///crier/node_modules/ioredis/built/Redis.js'), 'redisOut');
    assert.equal(at('returnReply', 'file:///crier/node_modules/ioredis/built/DataHandler.js'), 'redisIn');
    assert.equal(at('get value', 'file:///crier/dist/src/graph/payload.js'), 'parse');
    assert.equal(at('#show', 'file:///crier/dist/src/gateway/fanout/live-channel.js'), 'share');
    assert.equal(at('emit', 'node:events'), undefined);
  });
});

describe('RULES', () => {
  it('name files that src has', async () => {
    const files = (await readdir('src', { recursive: true })).map((file) => `/src/${file.replace(/\.ts$/, '.js')}`);
    for (const { file } of RULES) {
      if (file?.source.includes('src'))
        assert.ok(
          files.some((path) => file.test(path)),
          file.source,
        );
    }
  });
});
