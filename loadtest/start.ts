import { startArguments } from './processes/start-arguments.ts';
import { base, decimal, optional, whole } from './runner/flags.ts';
import { defineScenario } from './runner/scenario.ts';
import { median, spreadOf, spreadsOf } from './runner/spread.ts';
import { costOfStart, partsOfStart } from './start/start-once.ts';
import type { StartCost, StartPlan } from './start/start-once.ts';

/** Packages and folders that are listed. */
const MAX_PARTS = 12;

const FIGURES = {
  'CPU, ms': ({ cpuMs }: StartCost) => cpuMs,
  'wall, ms': ({ wallMs }: StartCost) => wallMs,
  'RSS, MB': ({ rssBytes }: StartCost) => rssBytes / 2 ** 20,
};

/** The starts of one role, in the order of their rounds. */
interface RoleStarts {
  readonly role: string;
  readonly crier: StartCost[];
  readonly base: StartCost[];
}

export const scenario = defineScenario({
  name: 'start',
  question: `CPU, time and memory of a start, until the line "ready": embedded, and as a gateway and a worker beside
Redis; and the packages and folders of crier that took longest.`,
  flags: {
    rounds: whole('starts of each role', 5),
    base: base('its starts alternate with those of this one'),
    limit: optional(decimal('most CPU against the base, embedded and as a gateway; default: none', 0)),
  },
  packages: ['ws', 'graphql'],
  isPinned: false,
  notes: 'Exits with 1 if a start takes more than --limit times the CPU of the base.',
  run: async ({ flags: { rounds, base, limit = Infinity }, scope, say }) => {
    const redis = await scope.redis();
    // No broker answers there: the start does not wait for one.
    const apart = { REDIS_URL: redis.url, KAFKA_BROKERS: '127.0.0.1:9', CHANNEL_PREFIX: 'bench:' };
    const environments = { embedded: {}, gateway: { ROLE: 'gateway', ...apart }, worker: { ROLE: 'worker', ...apart } };
    const starts: RoleStarts[] = [];
    const dearest: string[] = [];
    for (const [role, environment] of Object.entries(environments)) {
      const planOf = (script: string): StartPlan => ({ script, nodeArguments: startArguments(), environment });
      const own = planOf('dist/src/main.js');
      const one: RoleStarts = { role, crier: [], base: [] };
      for (let round = 1; round <= rounds; round++) {
        one.crier.push(await costOfStart(own));
        if (base !== undefined) one.base.push(await costOfStart(planOf(base)));
        say(`${role}, round ${round}: ${one.crier.at(-1)!.cpuMs} ms of CPU`);
      }
      starts.push(one);
      const parts = [...(await partsOfStart(own))].sort(([, a], [, b]) => b - a).slice(0, MAX_PARTS);
      dearest.push(`${role}: ${parts.map(([part, ms]) => `${part} ${ms.toFixed(0)} ms`).join(', ')}`);
    }
    const spreads = (of: 'crier' | 'base') =>
      Object.fromEntries(starts.map((one) => [one.role, spreadsOf(one[of], FIGURES)]));
    return {
      sections: [
        {
          table: [
            ['role and figure', 'median', 'min', 'max', ...(base === undefined ? [] : ['base', 'ratio'])],
            ...starts.flatMap(linesOf),
          ],
          note: `Took longest in one start, ${dearest.join(', ')}.`,
        },
      ],
      success: 'No start took too long.',
      faults: starts.flatMap((one) => {
        const ratio = ratioOf(one, FIGURES['CPU, ms']);
        return ratio > limit && one.role !== 'worker'
          ? [`${one.role}: ${ratio.toFixed(2)} times the CPU of the base`]
          : [];
      }),
      data: { rounds, crier: spreads('crier'), ...(base !== undefined && { base: spreads('base') }) },
    };
  },
});

function linesOf(starts: RoleStarts): string[][] {
  const { role, crier, base } = starts;
  return Object.entries(FIGURES).map(([name, read]) => {
    const own = spreadOf(crier.map(read));
    const figures = [own.median, own.min, own.max].map((value) => value.toFixed(0));
    const against = base.length > 0 ? [median(base.map(read)).toFixed(0), ratioOf(starts, read).toFixed(2)] : [];
    return [`${role}: ${name}`, ...figures, ...against];
  });
}

/** Of the medians; 0 without a base. */
function ratioOf({ crier, base }: RoleStarts, read: (cost: StartCost) => number): number {
  return base.length > 0 ? median(crier.map(read)) / median(base.map(read)) : 0;
}
