import { readFileSync } from 'node:fs';

const MANIFEST = new URL('package.json', import.meta.url);

/**
 * The one compiler configuration: the build, the tests and graphs that are compiled on load all run through it.
 *
 * It removes types and compiles Proxy.lazy. Everything else stays as it is written, for the Node that runs it. The build rewrites
 * `./x.ts` imports to `./x.js`, and imports of `crier`; a graph is compiled in place, under its own file names (caller `crier-graph`).
 *
 * @param {import('@babel/core').ConfigAPI} api
 * @returns {import('@babel/core').TransformOptions}
 */
export default function babelConfig(api) {
  const isGraph = api.caller((caller) => caller?.name === 'crier-graph');
  return {
    presets: [['@babel/preset-typescript', { onlyRemoveTypeImports: true, rewriteImportExtensions: !isGraph }]],
    plugins: ['@crier/babel-plugin-proxy-lazy', ...(isGraph ? [] : [ownImports])],
    sourceMaps: true,
  };
}

/**
 * Writes the name of the package for `crier`, which is how projects install it: what is built here runs also where it is installed under another name.
 *
 * @param {import('@babel/core')} babel
 * @returns {import('@babel/core').PluginObj}
 */
function ownImports({ types }) {
  /** @type {unknown} */
  const parsed = JSON.parse(readFileSync(MANIFEST, 'utf8'));
  const { name } = /** @type {{ name: string }} */ (parsed);
  return {
    visitor: {
      ImportDeclaration: ({ node }) => {
        const source = node.source.value.replace(/^crier(?=\/|$)/, name);
        if (source !== node.source.value) node.source = types.stringLiteral(source);
      },
    },
  };
}
