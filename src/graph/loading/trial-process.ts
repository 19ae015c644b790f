import { ImportableModules } from './graph-modules.ts';
import { moduleUrl } from './compile.ts';
import type { Trial } from './module-trial.ts';

/** Imports the modules of a graph, says so, and ends. What they throw does not count: the pod finds it, too, and reports it. */
process.once('message', ({ folder, sources, entries }: Trial) => {
  const importAll = async () => {
    await new ImportableModules(folder).add(sources, undefined);
    for (const entry of entries) await import(moduleUrl(entry, undefined));
  };
  void importAll()
    .catch(() => undefined)
    .then(() => process.send?.('imported', () => process.exit(0)));
});
