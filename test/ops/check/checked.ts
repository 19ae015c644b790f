import { checkConfig } from '../../../src/ops/check/check-config.ts';
import type { CheckOptions } from '../../../src/ops/check/check-config.ts';
import { linesOf } from '../../../src/tools/check.ts';
import { podEnvironment } from '../../end-to-end/pod.ts';

/** The lines that `crier check` prints of these settings, and whether one of them is a failure, with which it exits with 1. */
export async function checked(settings: Readonly<Record<string, string>>, options: CheckOptions = {}) {
  const findings = await checkConfig(podEnvironment(settings), options);
  const hasFailed = findings.some(({ status }) => status === 'failed');
  return { hasFailed, lines: linesOf(findings).trimEnd().split('\n') };
}
