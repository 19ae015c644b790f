import { resolve } from 'node:path';
import { transformAsync } from '@babel/core';
import type { BabelFileResult } from '@babel/core';

/** Runs the plugin alone (with the TypeScript preset for a `.ts` file), apart from the project's configuration. */
export async function compile(code: string, filename = 'input.js'): Promise<BabelFileResult & { code: string }> {
  const result = await transformAsync(code, {
    filename,
    plugins: [resolve('plugins/babel-plugin-proxy-lazy/index.js')],
    presets: filename.endsWith('.ts') ? ['@babel/preset-typescript'] : [],
    babelrc: false,
    configFile: false,
    sourceMaps: true,
    highlightCode: false,
  });
  return { ...result, code: result?.code ?? '' };
}

/** Evaluates a module that imports nothing but builtins; the same code gives the same module. */
export async function run(code: string): Promise<Record<string, unknown>> {
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as Record<string, unknown>;
}
