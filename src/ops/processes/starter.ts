import { EventEmitter } from 'node:events';
import type { Graph } from '../../graph/graph-parts.ts';
import { exampleOperation } from '../../graph/schema/example-operation.ts';
import type { Order, Report } from './reports.ts';

/**
 * The process that started this one, a process of a pod. If it is gone, so is this process: `node:cluster` ends it.
 *
 * A terminal sends SIGINT to all processes of a pod, and a service manager SIGTERM, and the starter passes on its own, a second SIGTERM as
 * SIGINT: so a signal counts if more of them have come from one of the two than before from either. SIGHUP counts from the starter only.
 */
export class Starter {
  /** Emits the signals, as `process` does. */
  readonly signals = new EventEmitter<Record<NodeJS.Signals, [NodeJS.Signals]>>();

  /** Follows orders from now on, and says so. */
  listen(): void {
    let most = 0;
    let own = 0;
    let passedOn = 0;
    const count = (signal: 'SIGTERM' | 'SIGINT', received: number) => {
      if (received <= most) return;
      most = received;
      this.signals.emit(signal, signal);
    };
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => count(signal, ++own));
    process.on('SIGHUP', () => undefined);
    process.on('message', ({ signal }: Order) => {
      if (signal === 'SIGHUP') this.signals.emit(signal, signal);
      else count(signal, ++passedOn);
    });
    void this.report({ isListening: true });
  }

  /** The same of a start that is over. */
  reportStart({ port, graph }: { readonly port: number | undefined; readonly graph: Graph }): Promise<void> {
    return this.report({ started: { port, graphName: graph.name, operation: exampleOperation(graph) } });
  }

  /** Resolves when it is sent, or cannot be: the channel closes when the starter ends. */
  report(report: Report): Promise<void> {
    return new Promise((resolve) => {
      if (!process.connected) return resolve();
      process.send!(report, undefined, undefined, () => resolve());
    });
  }
}
