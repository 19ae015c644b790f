import assert from 'node:assert/strict';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { WatchedFile } from '../../src/base/watched-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

describe('WatchedFile', () => {
  it('parses a content once, good or bad, and a good one again after any failure', async (t) => {
    const path = join(await temporaryFolder(t), 'file');
    const parsed: string[] = [];
    const file = new WatchedFile({
      path,
      maxBytes: 10,
      parse: (text) => {
        parsed.push(text);
        if (text === 'bad') throw new Error('refused');
        return text;
      },
    });
    const reads = async (value: string | undefined, failure: string | undefined, parses: readonly string[]) => {
      for (let i = 0; i < 2; i++) await file.read();
      assert.deepEqual([file.value, file.failure?.message.replace(path, '<path>')], [value, failure]);
      assert.deepEqual(parsed.splice(0), parses);
    };
    await reads(undefined, 'there is no file <path>', []);
    await writeFile(path, 'good');
    await reads('good', undefined, ['good']);
    await writeFile(path, 'bad');
    await reads('good', '<path>: refused', ['bad']);
    await writeFile(path, 'x'.repeat(11));
    await reads('good', '<path>: 11 bytes, and at most 10 are read', []);
    await writeFile(path, 'good');
    await reads('good', undefined, ['good']);
    await rm(path);
    await reads('good', 'there is no file <path>', []);
    await mkdir(path);
    await reads('good', '<path>: not a file', []);
    await rm(path, { recursive: true });
    await writeFile(path, 'good');
    await reads('good', undefined, ['good']);
  });

  it('never parses a file that is too large, though it replaces another while that is read', async (t) => {
    const path = join(await temporaryFolder(t), 'file');
    const parsed = new Set<string>();
    const file = new WatchedFile({ path, maxBytes: 10, parse: (text) => void parsed.add(text) });
    const replace = async (content: string) => {
      await writeFile(`${path}.draft`, content);
      await rename(`${path}.draft`, path);
    };
    await replace('good');
    let isReplacing = true;
    const replaced = (async () => {
      for (let i = 0; i < 400; i++) await replace(i % 2 === 0 ? 'x'.repeat(11) : 'good');
      isReplacing = false;
    })();
    while (isReplacing) await file.read();
    await replaced;
    assert.deepEqual([...parsed], ['good']);
  });
});
