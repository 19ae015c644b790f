import { answerCalls } from '../../processes/process-call.ts';
import { Balancer } from './balancer.ts';

/** The balancer's process. */
const balancer = new Balancer();

const methods = {
  /** Resolves with its port. */
  start: () => balancer.start(),
  /** Sets the targets of new connections. */
  target: (ports: readonly number[]) => void (balancer.targets = ports),
};
export type BalancerProcess = typeof methods;
answerCalls(methods);
