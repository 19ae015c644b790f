import { rm } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { archives } from './release/archives.ts';
import { bill } from './release/bill.ts';
import { changelogs } from './release/changelogs.ts';
import { checkout } from './release/checkout.ts';
import { contents } from './release/contents.ts';
import { licences } from './release/licences.ts';
import { publint, types } from './release/lint.ts';
import { readLock, readPackages } from './release/packages.ts';
import { project } from './release/project.ts';
import { provenance } from './release/provenance.ts';
import { publishing } from './release/publishing.ts';
import { registry } from './release/registry.ts';
import { RELEASE_FOLDER, Release } from './release/release.ts';
import { runSteps } from './release/steps.ts';
import type { Step } from './release/steps.ts';
import { tools } from './release/tools.ts';
import { versions } from './release/versions.ts';

/** `npm run release` publishes the packages after each of these steps; `npm run release -- --dry-run` publishes nothing. */
const STEPS: readonly (readonly Step[])[] = [
  [
    { name: 'checkout', run: checkout },
    { name: 'versions', run: versions },
    { name: 'changelogs', run: changelogs },
    { name: 'provenance', run: provenance },
    { name: 'licences', run: licences },
    { name: 'bill', run: bill },
  ],
  [
    { name: 'tools', run: tools, fix: 'npm must reach its registry; a removed .stack/release is installed anew' },
    { name: 'archives', run: archives, fix: 'after `npm ci`, `npm run archives` shows the whole error' },
  ],
  [
    { name: 'contents', run: contents },
    { name: 'publint', run: publint },
    { name: 'types', run: types },
  ],
  [{ name: 'registry', run: registry, fix: 'remove .stack/release, and run the release again' }],
  [{ name: 'project', run: project, fix: '`npm test -- packages` uses the same archives, and shows more' }],
  [{ name: 'publishing', run: publishing, fix: 'run the release again: it leaves out what is published' }],
];

const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } });
const print = (line: string) => void process.stdout.write(`${line}\n`);
const lock = await readLock();
const release = new Release(values['dry-run'], lock, await readPackages(lock));
await rm(RELEASE_FOLDER, { recursive: true, force: true });
try {
  if (!(await runSteps(STEPS, release, print))) process.exitCode = 1;
} finally {
  await release.close();
}
for (const what of release.left) print(`Before a release: ${what}`);
