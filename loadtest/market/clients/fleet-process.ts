import { answerCalls } from '../../processes/process-call.ts';
import type { FleetPlan, Window } from './fleet-report.ts';
import { Fleet } from './fleet.ts';

/** The clients' process. */
let fleet: Fleet | undefined;

const methods = {
  /** Subscribes to Redis and creates the clients. */
  prepare: (plan: FleetPlan) => {
    fleet = new Fleet(plan);
    return fleet.start();
  },
  connect: () => fleet!.connect(),
  progress: () => fleet!.progress(),
  begin: (window: Window) => fleet!.begin(window),
  closings: () => fleet!.closings(),
  settle: (to: readonly number[]) => fleet!.settle(to),
};
export type FleetProcess = typeof methods;
answerCalls(methods);
