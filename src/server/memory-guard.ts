import { MemoryGuard } from '../ops/memory/memory-guard.ts';
import { ProcessMemory } from '../ops/memory/process-memory.ts';
import type { RoleServices } from './services.ts';

type MemoryServices = Pick<RoleServices, 'config' | 'tunables' | 'log' | 'metrics' | 'register'>;

export function startMemoryGuard({ config, tunables, log, metrics, register }: MemoryServices): MemoryGuard {
  // Of a pod of several processes, the worker and the process that starts the others have one share together.
  const memory = new ProcessMemory(config.nodeOptions, config.process === undefined ? 1 : config.PROCESSES + 1);
  const maxPercent = () => tunables.values.MAX_HEAP_PERCENT;
  const guard = register(new MemoryGuard({ memory, maxPercent, log })).start();
  metrics.gauge(
    'crier_heap_limit_bytes',
    'Size of the old generation of the heap at which V8 ends the process.',
    () => memory.heapLimitBytes,
    'process',
  );
  metrics.gauge(
    'crier_heap_used_ratio',
    'Used share of crier_heap_limit_bytes after the last major garbage collection, from 0 to 1.',
    () => guard.heapRatio,
    'process',
  );
  metrics.gauge(
    'crier_memory_guard_active',
    '1 while memory is short (MAX_HEAP_PERCENT), else 0.',
    () => (guard.isShort ? 1 : 0),
    'max',
  );
  return guard;
}
