/** What a scenario does differently from the others; numbers are defaults of flags. */
export interface Scenario {
  readonly name: ScenarioName;
  /** What it asks, for the person who reads the results. */
  readonly question: string;
  readonly seconds: number;
  /** All clients at once, while records flow; else before, a hundred at a time. */
  readonly connectsAtOnce: boolean;
  /** Clients beside the others that read no more than 4 KB a second. */
  readonly slow: number;
  /** Every client reconnects so often; 0: none does. */
  readonly churnSeconds: number;
  /** Two pods behind a balancer, of which one is drained and replaced. */
  readonly hasDeploy: boolean;
}

export type ScenarioName = 'mixed' | 'churn' | 'deploy' | 'slow' | 'cold';

const STEADY = { seconds: 30, connectsAtOnce: false, slow: 0, churnSeconds: 0, hasDeploy: false };

export const scenarios: readonly Scenario[] = [
  { ...STEADY, name: 'mixed', question: 'Does everybody get everything under a load of many kinds, and how late?' },
  {
    ...STEADY,
    name: 'churn',
    question: 'What do clients that come and go get, and what does it cost the others?',
    seconds: 40,
    churnSeconds: 15,
  },
  {
    ...STEADY,
    name: 'deploy',
    question: 'What do clients notice when one of two pods is replaced?',
    seconds: 40,
    hasDeploy: true,
  },
  { ...STEADY, name: 'slow', question: 'Do clients that read slowly harm those that do not?', slow: 20 },
  {
    ...STEADY,
    name: 'cold',
    question: 'How long until all clients are served that connect at once?',
    connectsAtOnce: true,
  },
];

/** Whether no client has a reason to be away: then nothing may be missed at all. Else only within a connection. */
export function promisesEverything({ churnSeconds, hasDeploy }: Scenario): boolean {
  return churnSeconds === 0 && !hasDeploy;
}

/** @throws Error naming the scenarios that there are. */
export function scenarioOf(name: string): Scenario {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (found) return found;
  throw new Error(`--scenario: expected ${scenarios.map((one) => one.name).join(', ')}, got "${name}"`);
}
