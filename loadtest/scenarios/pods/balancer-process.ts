import { answerCalls } from '../../processes/process-call.ts';
import { Balancer } from './balancer.ts';

/** The balancer's process, called by balancer-calls.ts. */
const balancer = new Balancer();

answerCalls({
  start: () => balancer.start(),
  target: (ports: readonly number[]) => void (balancer.targets = ports),
});
// Keeps the process alive until its parent's first call.
process.channel?.ref();
