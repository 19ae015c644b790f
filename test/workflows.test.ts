import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { RELEASE_FOLDER } from '../scripts/release/release.ts';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly 'working-directory'?: string;
}

interface Job {
  readonly needs?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const FOLDER = join('.github', 'workflows');
/** Programs that the forge's machines have, or that an action before installs. */
const PROGRAMS: ReadonlySet<string> = new Set([
  ...['awk', 'cosign', 'cut', 'docker', 'for', 'gh', 'git', 'helm', 'jq', 'npm', 'sed', 'set', 'tee', 'yq'],
]);

const workflows = readdirSync(FOLDER).map(
  (name) => [name, parse(readFileSync(join(FOLDER, name), 'utf8')) as Workflow] as const,
);
const jobs = workflows.flatMap(([file, { jobs, permissions }]) =>
  Object.entries(jobs).map(([name, job]) => ({ name: `${file} ${name}`, permissions, ...job })),
);
const steps = jobs.flatMap(({ name, steps }) => steps.map((step) => ({ job: name, ...step })));
const scripts = steps.flatMap(({ job, run }) => (run === undefined ? [] : [{ job, run }]));

/** The programs that a script runs: the first words of its commands. */
function programsOf(script: string): string[] {
  const commands = script
    .replaceAll(/\\\n/g, ' ')
    .replaceAll(/'[^']*'/g, "''")
    .split(/\n|&&|\|\||[|;]|\$\(|\bdo\b/);
  return commands
    .map((command) => command.trim().replace(/^(?:\w+=(?:"[^"]*"|\S*)\s*)*/, ''))
    .map((command) => command.split(/[\s)]/, 1)[0]!)
    .filter((word) => word !== '' && word !== '[' && word !== 'done');
}

/** The paths in a script that it does not make itself. */
function pathsOf(script: string): string[] {
  return script
    .replaceAll(/--platform \S+|'[^']*'/g, '')
    .split(/[\s"]+/)
    .filter((word) => /^(?:\.?[\w-]+(?:\/[\w.-]+)+|Dockerfile|[A-Z]+\.md)$/.test(word));
}

// They cannot run here: no forge has this project.
describe('the workflows of the forge', () => {
  it('have scripts that bash can read', () => {
    for (const { job, run } of scripts)
      assert.doesNotThrow(() => execFileSync('bash', ['-n'], { input: run, stdio: 'pipe' }), job);
  });

  it('run scripts and commands that exist', () => {
    const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
    for (const { job, run } of scripts) {
      for (const [, name] of run.matchAll(/npm run ([\w:-]+)/g))
        assert.ok(manifest.scripts[name!], `${job}: npm run ${name}`);
      for (const path of pathsOf(run)) assert.ok(existsSync(path), `${job}: ${path}`);
      for (const program of programsOf(run))
        assert.ok(PROGRAMS.has(program) || existsSync(program), `${job}: ${program}`);
    }
    const named = scripts.map(({ run }) => run).join('\n');
    for (const path of ['.ci/run', 'npm run release\n', 'deploy/helm/crier'])
      assert.ok(`${named}\n`.includes(path), path);
    const folders = steps.flatMap((step) => step['working-directory'] ?? []);
    assert.deepEqual(folders, [RELEASE_FOLDER]);
    assert.ok(named.includes(`${RELEASE_FOLDER}/*`));
  });

  it('take actions by commit, and jobs that exist', () => {
    for (const { job, uses } of steps) if (uses) assert.match(uses, /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/, job);
    for (const [, { jobs }] of workflows)
      for (const { needs } of Object.values(jobs)) if (needs) assert.ok(jobs[needs], needs);
  });

  it('have the rights that they need, and no other', () => {
    for (const { name, permissions, steps } of jobs) {
      const text = JSON.stringify(steps);
      assert.equal(permissions['id-token'], text.includes('cosign sign') ? 'write' : undefined, name);
      assert.equal(permissions['packages'], text.includes('docker login') ? 'write' : undefined, name);
      assert.equal(permissions['contents'], text.includes('gh release') ? 'write' : 'read', name);
    }
  });

  it('build an image for two architectures whose native packages are in the lockfile', () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: object };
    const [, platforms] = /--platform (\S+)/.exec(scripts.map(({ run }) => run).join('\n'))!;
    assert.deepEqual(platforms!.split(','), ['linux/amd64', 'linux/arm64']);
    for (const name of ['@napi-rs/snappy-linux', '@antoniomuso/lz4-napi-linux'])
      for (const processor of ['x64', 'arm64'])
        assert.ok(`node_modules/${name}-${processor}-gnu` in packages, `${name} for ${processor}`);
  });
});
