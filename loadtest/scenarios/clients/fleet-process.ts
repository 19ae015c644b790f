import { answerCalls } from '../../processes/process-call.ts';
import type { FleetPlan, Window } from './fleet-calls.ts';
import { Fleet } from './fleet.ts';

/** The clients' process, called by fleet-calls.ts. */
let fleet: Fleet | undefined;

answerCalls({
  prepare: (plan: FleetPlan) => {
    fleet = new Fleet(plan);
    return fleet.start();
  },
  connect: ({ atOnce }: { atOnce: boolean }) => fleet!.connect(atOnce),
  progress: () => fleet!.progress(),
  begin: (window: Window & { isConfirmed: boolean }) => fleet!.begin(window),
  churn: ({ seconds }: { seconds: number }) => fleet!.churn(seconds),
  closings: () => fleet!.closings(),
  settle: ({ to }: { to: readonly number[] }) => fleet!.settle(to),
});
// Keeps the process alive until its parent's first call.
process.channel?.ref();
