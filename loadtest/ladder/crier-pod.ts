import { crierPod } from '../story/pods/pod.ts';
import type { Pod } from '../story/pods/pod.ts';

/** crier as `npm start` runs it, with the built-in graph and these settings. */
export function crierWith(
  settings: Readonly<Record<string, string>>,
): Pick<Pod, 'script' | 'environment' | 'nodeArguments'> {
  return { ...crierPod, environment: { ...crierPod.environment, GRAPH: '', ...settings } };
}
