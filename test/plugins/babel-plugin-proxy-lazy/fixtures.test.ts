import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { compile, run } from './compile.ts';

/**
 * A folder is a test, its name the title. It holds one of:
 * - `exec.js`: compiled and run as a module;
 * - `input.js|ts` and `output.js`: compiled and compared. The runtime's body is left out. A missing output is written;
 * - `input.js|ts` and `options.json` with `throws`: compiling fails with that message, naming the file and a line.
 */
const root = resolve('plugins/babel-plugin-proxy-lazy/fixtures');

describe('Proxy.lazy', () => {
  for (const name of readdirSync(root)) {
    const files = readdirSync(join(root, name));
    const source = files.find((file) => /^(input|exec)\.[jt]s$/.test(file));
    const title = name.replaceAll('-', ' ');
    if (source === undefined) throw new Error(`${name} has neither an input nor an exec file`);
    const path = join(root, name, source);

    if (source.startsWith('exec')) it(title, () => runs(path));
    else if (files.includes('options.json')) it(title, () => isRefused(path, join(root, name, 'options.json')));
    else it(title, () => compilesTo(path, join(root, name, 'output.js')));
  }
});

async function runs(path: string): Promise<void> {
  const { code } = await compile(readFileSync(path, 'utf8'), path);
  await run(code);
}

async function isRefused(path: string, optionsPath: string): Promise<void> {
  const { throws } = JSON.parse(readFileSync(optionsPath, 'utf8')) as { throws: string };
  await assert.rejects(compile(readFileSync(path, 'utf8'), path), ({ message }: Error) => {
    for (const part of [throws, path]) assert.ok(message.includes(part), `"${part}" is not in: ${message}`);
    assert.match(message, /^> \d+ \|/m);
    return true;
  });
}

async function compilesTo(path: string, outputPath: string): Promise<void> {
  const { code } = await compile(readFileSync(path, 'utf8'), path);
  const output = `${code.replaceAll(/class Lazy \{\n.*?\n\}/gs, 'class Lazy {}')}\n`;
  try {
    assert.equal(output, readFileSync(outputPath, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    writeFileSync(outputPath, output);
    assert.fail(`${outputPath} was missing and has been written: read it before you commit it`);
  }
}
