/**
 * The one compiler configuration: the build, the tests and graphs that are compiled on load all run through it.
 *
 * It removes types and compiles Proxy.lazy. Everything else stays as it is written, for the Node that runs it. The build rewrites
 * `./x.ts` imports to `./x.js`; a graph is compiled in place, under its own file names (caller `crier-graph`).
 *
 * @param {import('@babel/core').ConfigAPI} api
 * @returns {import('@babel/core').TransformOptions}
 */
export default function babelConfig(api) {
  const isGraph = api.caller((caller) => caller?.name === 'crier-graph');
  return {
    presets: [['@babel/preset-typescript', { onlyRemoveTypeImports: true, rewriteImportExtensions: !isGraph }]],
    plugins: ['@crier/babel-plugin-proxy-lazy'],
    sourceMaps: true,
  };
}
