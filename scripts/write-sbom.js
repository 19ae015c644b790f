import { execFileSync } from 'node:child_process';

// Writes the bill of materials of what is installed with crier to standard output. `npm sbom --omit dev` would also omit each package that a
// development dependency uses as well, such as ws and graphql.

/**
 * @typedef {{ 'bom-ref': string, properties?: { name: string, value: string }[] }} Component
 * @typedef {{ ref: string, dependsOn: string[] }} Dependency
 * @typedef {{ metadata: { component: Component }, components: Component[], dependencies: Dependency[] }} Bill
 */

const DEVELOPMENT = 'cdx:npm:package:development';
const MAX_BYTES = 64 * 1024 * 1024;

const options = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
const text = execFileSync('npm', ['sbom', ...options], { maxBuffer: MAX_BYTES, encoding: 'utf8' });
/** @type {unknown} */
const parsed = JSON.parse(text);
const bill = /** @type {Bill} */ (parsed);
/** @param {Component} component */
const isInstalled = ({ properties = [] }) =>
  !properties.some(({ name, value }) => name === DEVELOPMENT && value === 'true');
const components = bill.components.filter(isInstalled);
const known = new Set([bill.metadata.component['bom-ref'], ...components.map((component) => component['bom-ref'])]);
const dependencies = bill.dependencies
  .filter(({ ref }) => known.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => known.has(other)) }));
process.stdout.write(`${JSON.stringify({ ...bill, components, dependencies }, null, 2)}\n`);
