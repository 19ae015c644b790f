import { createReadStream } from 'node:fs';
import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { CpuProfile } from '../../src/ops/profiling/cpu-profile.ts';
import { conditionsOf } from '../fanout/conditions.ts';
import { crierPod } from '../story/pods/pod.ts';
import type { Pod } from '../story/pods/pod.ts';
import { hotSites, siteTables } from './access-sites.ts';
import type { ScriptCoverage } from './executions.ts';
import { readIcLog } from './ic-log.ts';
import { floodProfile } from './recording.ts';
import type { Recording } from './recording.ts';
import { shareByFunction } from './share-by-function.ts';

const LOG = 'v8.log';

/**
 * Polymorphic and megamorphic accesses, from two floods: one with V8's log of inline caches and with counts, which make the pod slow, and
 * one with a CPU profile for the shares.
 */
export function recordInlineCaches(folder: string): Recording {
  let pid = 0;
  const counts = join(folder, 'executions.json');
  const profile = join(folder, 'flood.cpuprofile');
  const report = join(folder, 'inline-caches.md');
  const withFlags = (...flags: string[]): Pod => ({
    ...crierPod,
    nodeArguments: [...(crierPod.nodeArguments ?? []), ...flags],
  });
  return {
    runs: [
      {
        pod: withFlags('--log-ic', `--logfile=${resolve(folder, LOG)}`),
        onPhase: async (phase, pod) => {
          pid = pod.pid;
          // Begins the counts of the flood.
          if (phase === 'flood') await pod.writeExecutions(counts);
        },
        onDrained: (pod) => pod.writeExecutions(counts),
      },
      // With the flag a function that V8 has inlined before the profile starts keeps its own time.
      { pod: withFlags('--detailed-line-info'), ...floodProfile(profile) },
    ],
    finish: async ([counted, profiled]) => {
      const sites = hotSites({
        log: await readIcLog(createInterface({ input: createReadStream(await mainLog(folder, pid)) })),
        executions: JSON.parse(await readFile(counts, 'utf8')) as ScriptCoverage[],
        events: counted!.flood.produced,
        shares: shareByFunction(JSON.parse(await readFile(profile, 'utf8')) as CpuProfile),
      });
      const floods = { 'records, counted': counted!.flood.produced, 'records, profiled': profiled!.flood.produced };
      const conditions = Object.entries({ ...conditionsOf([]), ...floods }).map(([name, value]) => `${name}: ${value}`);
      const text = `${conditions.join(' · ')}\n\n${siteTables(sites)}`;
      await writeFile(report, text);
      return `${text}\n${report}\n`;
    },
  };
}

/** V8 writes a log for each thread. The main thread's is the first of the process. */
async function mainLog(folder: string, pid: number): Promise<string> {
  const paths = (await readdir(folder))
    .filter((name) => name.endsWith(`-${pid}-${LOG}`))
    .map((name) => join(folder, name));
  const births = await Promise.all(paths.map(async (path) => (await stat(path)).birthtimeMs));
  const first = paths[births.indexOf(Math.min(...births))];
  if (first === undefined) throw new Error(`V8 wrote no log into ${folder}`);
  return first;
}
