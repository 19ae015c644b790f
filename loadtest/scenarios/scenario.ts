/** The differences between scenarios. Numbers are defaults of flags. */
export interface Scenario {
  readonly name: ScenarioName;
  /** The question that the report answers. */
  readonly question: string;
  readonly seconds: number;
  /** All clients connect at once while records flow; otherwise before them, a hundred at a time. */
  readonly connectsAtOnce: boolean;
  /** Number of additional clients that read at most 4 KB a second. */
  readonly slow: number;
  /** Interval at which every client reconnects; 0: never. */
  readonly churnSeconds: number;
  /** Two pods run behind a balancer; one is drained and replaced. */
  readonly hasDeploy: boolean;
}

export type ScenarioName = 'mixed' | 'churn' | 'deploy' | 'slow' | 'cold';

const STEADY = { seconds: 30, connectsAtOnce: false, slow: 0, churnSeconds: 0, hasDeploy: false };

export const scenarios: readonly Scenario[] = [
  { ...STEADY, name: 'mixed', question: 'Does every client get everything under a mixed load, and how late?' },
  {
    ...STEADY,
    name: 'churn',
    question: 'What do reconnecting clients receive, and what does it cost the others?',
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
  { ...STEADY, name: 'slow', question: 'Do clients that read slowly affect the others?', slow: 20 },
  {
    ...STEADY,
    name: 'cold',
    question: 'How long does a connection storm take until every client is served?',
    connectsAtOnce: true,
  },
];

/** Whether clients stay connected, so that none may miss a record. Otherwise this holds only within a connection. */
export function promisesEverything({ churnSeconds, hasDeploy }: Scenario): boolean {
  return churnSeconds === 0 && !hasDeploy;
}

/** @throws Error listing the scenarios. */
export function scenarioOf(name: string): Scenario {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (found) return found;
  throw new Error(`--scenario: expected ${scenarios.map((one) => one.name).join(', ')}, got "${name}"`);
}
