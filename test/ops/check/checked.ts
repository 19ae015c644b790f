import { checkConfig, linesOf } from '../../../src/ops/check/check-config.ts';
import { BUILT_IN_GRAPH } from '../../../src/server.ts';
import { podEnvironment } from '../../end-to-end/pod.ts';

/** The lines that `crier --check-config` prints for these settings, and whether one of them is a failure, with which it exits with 1. */
export async function checked(settings: Readonly<Record<string, string>>) {
  const findings = await checkConfig(podEnvironment(settings), BUILT_IN_GRAPH);
  const hasFailed = findings.some(({ status }) => status === 'failed');
  return { hasFailed, lines: linesOf(findings).trimEnd().split('\n') };
}
