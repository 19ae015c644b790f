import { MemoryGuard } from '../ops/memory/memory-guard.ts';
import { observeMemory } from '../ops/memory/memory-metrics.ts';
import { ProcessMemory } from '../ops/memory/process-memory.ts';
import type { RoleServices } from './services.ts';

type MemoryServices = Pick<RoleServices, 'config' | 'tunables' | 'log' | 'metrics' | 'register'>;

export function startMemoryGuard({ config, tunables, log, metrics, register }: MemoryServices): MemoryGuard {
  // Of a pod of several processes, the worker and the process that starts the others have one share together.
  const memory = new ProcessMemory(config.nodeOptions, config.process === undefined ? 1 : config.PROCESSES + 1);
  const maxPercent = () => tunables.values.MAX_HEAP_PERCENT;
  const guard = register(new MemoryGuard({ memory, maxPercent, log })).start();
  observeMemory(metrics, memory, guard);
  return guard;
}
