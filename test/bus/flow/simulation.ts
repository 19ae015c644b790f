import { Receiver } from '../../../src/bus/flow/receiver.ts';
import { Sender } from '../../../src/bus/flow/sender.ts';
import type { Mark } from '../../../src/bus/flow/mark.ts';

export interface GatewayPlan {
  readonly name: string;
  /** Bytes that the gateway serves in the given ms; 0: it is busy with other work. */
  readonly serve: (ms: number) => number;
  /** True if the gateway neither serves nor answers in the given ms. */
  readonly isFrozen?: (ms: number) => boolean;
}

export interface Plan {
  readonly gateways: readonly GatewayPlan[];
  /** Round-trip time to each gateway, in ms. */
  readonly delayMs?: number;
  /** Bytes that Kafka has for the worker in the given ms. Default: more than it can publish. */
  readonly source?: (ms: number) => number;
  readonly ms: number;
  readonly isFlowControlled?: boolean;
}

/** What happened in one ms. */
export interface Instant {
  readonly published: number;
  /** Bytes in flight to a gateway or waiting in it, by gateway. */
  readonly outstanding: readonly number[];
  readonly served: readonly number[];
}

const MESSAGE_BYTES = 2_500;
/** Most bytes that a worker publishes in a ms: 60 MB a second. */
const MAX_MESSAGES_PER_MS = 24;
const ASK_INTERVAL_MS = 10;
const LIMITS = { targetMs: 500, maxBytes: 8 * 1024 * 1024 };

/** Simulates one partition, one worker and some gateways on a clock of its own. The sender and the receivers are real; the rest is simplified. */
export function simulate({
  gateways,
  delayMs = 2,
  source = () => Infinity,
  ms,
  isFlowControlled = true,
}: Plan): Instant[] {
  const sender = new Sender({ patienceMs: 5_000, ask: () => undefined });
  const stream = 'stream';
  sender.open('bids', 0, stream);
  const nodes = gateways.map((plan) => {
    const receiver = new Receiver({
      gateway: plan.name,
      ...LIMITS,
      maxExecuting: 500,
      sockets: () => 1,
      fill: () => 0,
    });
    return { plan, receiver, intake: receiver.intake('bids', 0), link: [] as [at: number, of: number | Mark][], served: 0, answers: [] as [at: number, deliver: (now: number) => void][] }; // prettier-ignore
  });
  const instants: Instant[] = [];
  let published = 0;
  let available = 0;
  let askedAt = 0;
  const send = (now: number, of: number | Mark) => {
    for (const { link } of nodes) link.push([now + delayMs, of]);
  };
  const mark = (isQuestion: boolean): Mark => ({ topic: 'bids', partition: 0, stream, bytes: published, isQuestion });
  for (let now = 1; now <= ms; now++) {
    available += source(now);
    let messages = 0;
    for (; messages < MAX_MESSAGES_PER_MS && available >= MESSAGE_BYTES; messages++) {
      if (isFlowControlled && sender.room('bids', 0, now).bytes === 0) break;
      const due = sender.dueMark(stream, MESSAGE_BYTES, now);
      sender.add(stream, MESSAGE_BYTES);
      published += MESSAGE_BYTES;
      available -= MESSAGE_BYTES;
      send(now, MESSAGE_BYTES);
      if (due) send(now, mark(due.isQuestion));
    }
    const isLimited = messages < MAX_MESSAGES_PER_MS && available >= MESSAGE_BYTES;
    if (isLimited && now - askedAt >= ASK_INTERVAL_MS) {
      askedAt = now;
      send(now, mark(true));
    }
    for (const node of nodes) {
      for (; node.answers[0] && node.answers[0][0] <= now; node.answers.shift()) node.answers[0][1](now);
      if (node.plan.isFrozen?.(now)) continue;
      for (let next = node.link[0]; next && next[0] <= now; next = node.link[0]) {
        node.link.shift();
        const [, of] = next;
        if (typeof of === 'number') node.intake.arrive(of);
        else {
          const credit = node.receiver.onMark(of, now);
          if (credit) node.answers.push([now + delayMs, (at) => sender.onCredit(credit, at)]);
        }
      }
      const bytes = Math.min(node.intake.waiting, node.plan.serve(now));
      node.intake.serve(bytes);
      node.served += bytes;
    }
    instants.push({
      published,
      outstanding: nodes.map((node) => published - node.served),
      served: nodes.map((node) => node.served),
    });
  }
  sender.close();
  return instants;
}
