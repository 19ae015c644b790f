import { Rollout } from './rollout/rollout.ts';
import { upgradeFaults, upgradeTables } from './rollout/upgrade-report.ts';
import { ALL_STAGES, Upgrade } from './rollout/upgrade.ts';
import { base, whole } from './runner/flags.ts';
import { defineScenario } from './runner/scenario.ts';
import { startStack } from './story/stack.ts';

export const scenario = defineScenario({
  name: 'upgrade',
  question: 'Upgrades a worker and two gateways pod by pod from another build to this one, and back, under load.',
  flags: {
    base: base('the other version'),
    stock: whole('stock graphql-ws clients', 300),
    resuming: whole('clients of @crier/client, which resumes', 300),
    rate: whole('records a second', 200),
    auctions: whole('auctions, of which a client watches one, or those of one event', 100),
    seconds: whole('load in each stage after its replacements', 4),
  },
  notes: `Gateways first, then the worker, and back in the reverse order; then the worker first, and back. In each stage a gateway is stopped
for 3 s, so that the worker must wait for it.
Exits with 1 if @crier/client loses an event or is told of a gap, a stock client loses one within a connection, a gateway does not
recognise a message, a pod does not end with 0, or the worker does not wait for a gateway.`,
  run: async ({ flags, scope, say, signal }) => {
    const { base, stock, resuming, auctions, rate: recordsPerSecond, seconds: secondsInStage } = flags;
    if (base === undefined) throw new Error('--base: expected the folder of another checkout');
    const stack = await startStack(scope, say);
    const load = { seed: 1, zipfExponent: 0.5, stock, resuming, auctions, recordsPerSecond };
    const rollout = new Rollout({ ...stack, ...load, signal }, scope);
    await rollout.start();
    const upgrade = new Upgrade(rollout, { base, stages: ALL_STAGES, secondsInStage, signal });
    const stages = await upgrade.run();
    const fleet = await rollout.settle();
    const result = { stages, endings: upgrade.endings, unrecognised: await upgrade.unrecognised(), fleet };
    return {
      sections: upgradeTables(result).map((table) => ({ table })),
      success: 'Nothing that is promised was lost.',
      faults: upgradeFaults(result),
      data: result,
    };
  },
});
