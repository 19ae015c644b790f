import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { KUBERNETES_VERSION, renderChart } from '../../stack/kubernetes/chart.ts';
import { goProgram } from '../../stack/go-programs.ts';
import { kubernetesSchemas } from '../../stack/kubernetes/kubernetes-schemas.ts';
import { EXAMPLES } from './manifests.ts';

interface Verdict {
  readonly code: number | null;
  readonly output: string;
}

async function run(program: string, words: readonly string[], input: string): Promise<Verdict> {
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  child.stdin.end(input);
  const output = await text(child.stdout);
  return { code: await ended, output };
}

/** Kubernetes' own OpenAPI, and that of the ServiceMonitor. */
async function checkSchemas(manifests: string): Promise<Verdict> {
  const location = `${await kubernetesSchemas()}/{{ .ResourceKind }}{{ .KindSuffix }}.json`;
  return run(await goProgram('kubeconform'), ['-strict', '-summary', '-schema-location', location], manifests);
}

const IGNORED = [
  // An image is pinned by a digest, or by a tag that is not pushed again.
  'container-image-pull-policy',
  // The topology spread does it, without a pod that finds no node.
  'deployment-has-host-podantiaffinity',
];

/** kube-score's policies. A CPU limit would stop the event loop for the rest of each period. */
async function checkPolicies(manifests: string): Promise<Verdict> {
  const flags = ['--output-format', 'ci', '--exit-one-on-warning', '--ignore-container-cpu-limit'];
  const version = `v${KUBERNETES_VERSION.split('.').slice(0, 2).join('.')}`;
  const words = ['score', ...flags, '--ignore-test', IGNORED.join(','), '--kubernetes-version', version, '-'];
  const { code, output } = await run(await goProgram('kube-score'), words, manifests);
  return { code, output: output.replace(/^\[(?:OK|SKIPPED)\].*\n/gm, '') };
}

const rendered = (example: string) => renderChart({ name: 'crier', namespace: 'crier', example });

describe("the chart's output", { concurrency: 2 }, () => {
  for (const example of EXAMPLES) {
    it(`fits the schemas of Kubernetes' API with examples/${example}.yaml`, async () => {
      const { code, output } = await checkSchemas(await rendered(example));
      assert.equal(code, 0, output);
      assert.match(output, /Invalid: 0, Errors: 0, Skipped: 0/);
    });

    it(`meets kube-score's policies with examples/${example}.yaml`, async () => {
      assert.deepEqual(await checkPolicies(await rendered(example)), { code: 0, output: '' });
    });
  }

  it('is refused by the schemas with a field that does not exist, also in a ServiceMonitor (twin)', async () => {
    for (const [field, wrong] of [
      ['minReadySeconds', 'minReadySecond'],
      ['interval: 15s', 'intervall: 15s'],
    ] as const) {
      const manifests = (await rendered('full')).replaceAll(field, wrong);
      const { code, output } = await checkSchemas(manifests);
      assert.equal(code, 1);
      assert.match(output, new RegExp(`'${wrong.split(':')[0]}' not allowed`));
    }
  });

  it('is refused by the policies with a root file system that can be written, or without a limit (twin)', async () => {
    for (const [line, wrong, finding] of [
      ['readOnlyRootFilesystem: true', 'readOnlyRootFilesystem: false', /writable root filesystem/],
      [/^ +memory: 1Gi\n/gm, '', /Memory limit is not set/],
    ] as const) {
      const { code, output } = await checkPolicies((await rendered('all')).replaceAll(line, wrong));
      assert.equal(code, 1);
      assert.match(output, finding);
    }
  });
});
