import { answerCalls } from '../../processes/process-call.ts';
import { Balancer } from './balancer.ts';

/** The balancer's process, driven by balancer-calls.ts. */
const balancer = new Balancer();

answerCalls({
  start: () => balancer.start(),
  target: (ports: readonly number[]) => void (balancer.targets = ports),
});
// Nothing else keeps this process while it waits for its parent's first call.
process.channel?.ref();
