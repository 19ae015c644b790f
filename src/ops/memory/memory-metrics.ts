import type { MetricsRegistry } from '../metrics/metrics-registry.ts';
import type { MemoryGuard } from './memory-guard.ts';
import type { ProcessMemory } from './process-memory.ts';

export function observeMemory(metrics: MetricsRegistry, memory: ProcessMemory, guard: MemoryGuard): void {
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
}
