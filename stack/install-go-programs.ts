import { GO_PROGRAMS, goProgram } from './go-programs.ts';
import { CONTROL_PLANE_PROGRAMS, controlPlaneProgram } from './kubernetes/control-plane-programs.ts';

/**
 * `node dist/stack/install-go-programs.js [--control-plane]`: builds the programs that the tests of the Helm chart need, and those of
 * Kubernetes' control plane.
 */
try {
  for (const name of GO_PROGRAMS) await goProgram(name);
  if (process.argv.includes('--control-plane')) {
    for (const name of CONTROL_PLANE_PROGRAMS) await controlPlaneProgram(name);
  }
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
