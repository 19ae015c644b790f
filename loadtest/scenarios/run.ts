import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createTopics } from '../../stack/topics.ts';
import { startBalancer } from './pods/balancer-calls.ts';
import type { BalancerProcess } from './pods/balancer-calls.ts';
import { startFleet } from './clients/fleet-calls.ts';
import type { Fleet, FleetProgress } from './clients/fleet-calls.ts';
import { Market, PARTITIONS, TOPICS } from './load/market.ts';
import { Pods } from './pods/scenario-pods.ts';
import { openPaths } from './load/open-paths.ts';
import { MarketProducer } from './load/producer.ts';
import { faultsOf, warningsOf } from './result.ts';
import type { DeployReport, ScenarioResult, ScenarioSettings } from './result.ts';
import type { Scenario } from './scenario.ts';
import { Schedule } from './load/schedule.ts';

export interface ScenarioOptions {
  readonly kafkaBrokers: string;
  readonly redisUrl: string;
  readonly signal: AbortSignal;
  /** Receives a line of progress; in the window once a second. */
  readonly onProgress: (line: string) => void;
}

interface Stage {
  readonly scenario: Scenario;
  readonly settings: ScenarioSettings;
  readonly options: ScenarioOptions;
  readonly market: Market;
  readonly producer: MarketProducer;
  readonly pods: Pods;
  readonly fleet: Fleet;
  readonly balancer: BalancerProcess | undefined;
}

/** Time before the first record is due, so that it is on time. */
const LEAD_MS = 250;
/** Duration of the load before the window. */
const WARM_UP_SECONDS = 3;
/** Share of the window after which the deploy begins. */
const DEPLOY_AFTER = 0.25;

/**
 * Runs one scenario on an otherwise unused Kafka and Redis. All of its processes have ended when the promise settles.
 * @throws Error when a process does not start; the signal's reason. Losses are `faults` of the result.
 */
export async function runScenario(
  scenario: Scenario,
  settings: ScenarioSettings,
  options: ScenarioOptions,
): Promise<ScenarioResult> {
  const { kafkaBrokers, redisUrl, signal } = options;
  const name = `${scenario.name}-${randomBytes(4).toString('hex')}`;
  const stage: Stage = {
    scenario,
    settings,
    options,
    market: new Market(settings),
    producer: new MarketProducer(kafkaBrokers),
    pods: new Pods({ kafkaBrokers, redisUrl, channelPrefix: `${name}:`, group: name }),
    fleet: startFleet(),
    balancer: scenario.hasDeploy ? startBalancer() : undefined,
  };
  const stop = () => Promise.all([stage.fleet.stop(), stage.balancer?.stop(), stage.pods.stop()]);
  const onAbort = () => void stop();
  signal.addEventListener('abort', onAbort);
  try {
    signal.throwIfAborted();
    await setUp(stage, `${name}:`);
    return await measure(stage);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    await stage.producer.close().catch(() => undefined);
    await stop();
  }
}

async function setUp({ settings, options, producer, pods, fleet, balancer }: Stage, channelPrefix: string) {
  const { kafkaBrokers, redisUrl, signal, onProgress } = options;
  onProgress('starts crier');
  await createTopics(kafkaBrokers, [
    ...TOPICS.map(({ name }) => ({ topic: name, numPartitions: PARTITIONS })),
    { topic: 'crier-dead-letter', numPartitions: 1 },
  ]);
  await producer.start();
  const { port } = await pods.start(signal);
  if (balancer) await pods.start(signal);
  const entrance = await balancer?.start();
  await balancer?.target(pods.running.map((pod) => pod.port));
  await fleet.prepare({ ...settings, redisUrl, channelPrefix, port: entrance ?? port });
}

async function measure(stage: Stage): Promise<ScenarioResult> {
  const { scenario, settings, market, producer, pods, fleet, options } = stage;
  const { seconds, recordsPerSecond, churnSeconds } = settings;
  const rampMs = scenario.connectsAtOnce ? 0 : await connect(stage);
  if (!scenario.connectsAtOnce) {
    options.onProgress('waits until every subscription is live');
    // Slow clients are not waited for: nothing is promised to them.
    await openPaths({ market, producer, fleet, clients: settings.clients, signal: options.signal });
  }
  options.onProgress('warms up');
  await producer.run(new Schedule(soon(), recordsPerSecond, WARM_UP_SECONDS), market, options.signal);
  const { sequences: from, bytes: bytesBefore } = market;
  const startsAt = soon();
  await pods.begin();
  await fleet.begin({ from, startsAt, isConfirmed: !scenario.connectsAtOnce });
  if (churnSeconds > 0) await fleet.churn({ seconds: churnSeconds });
  const schedule = new Schedule(startsAt, recordsPerSecond, seconds);
  const endProgress = startProgress(stage, schedule);
  const [acknowledged, deploy, coldMs] = await Promise.all([
    producer.run(schedule, market, options.signal),
    scenario.hasDeploy ? replaceOnePod(stage) : undefined,
    scenario.connectsAtOnce ? connect(stage) : undefined,
  ]).finally(endProgress);
  const podReports = await pods.report();
  options.onProgress('waits for the last records');
  const fleetReport = await fleet.settle({ to: market.sequences });
  return {
    scenario: scenario.name,
    settings,
    records: schedule.total,
    recordMegabytes: (market.bytes - bytesBefore) / 1e6,
    acknowledged,
    fleet: fleetReport,
    pods: podReports,
    connectMs: coldMs ?? rampMs,
    ...(deploy && { deploy }),
    faults: faultsOf(scenario, settings, fleetReport, deploy),
    warnings: warningsOf(fleetReport, podReports),
  };
}

function soon(): number {
  return Math.ceil(performance.timeOrigin + performance.now()) + LEAD_MS;
}

/** Duration in ms. */
async function connect({ scenario, settings, fleet, options }: Stage): Promise<number> {
  options.onProgress(`connects ${settings.clients + settings.slow} clients`);
  const startedAt = performance.now();
  await fleet.connect({ atOnce: scenario.connectsAtOnce });
  return performance.now() - startedAt;
}

/** Starts a new pod, then drains an old one. The balancer removes the old pod as soon as it is not ready. */
async function replaceOnePod({ settings, pods, balancer, options }: Stage): Promise<DeployReport> {
  await delay(settings.seconds * DEPLOY_AFTER * 1000, undefined, { signal: options.signal });
  const target = () => balancer!.target(pods.running.map(({ port }) => port));
  const old = pods.running[0]!;
  const startedAt = performance.now();
  await pods.start(options.signal);
  await target();
  const drainedAt = performance.now();
  const ending = await pods.drain(old, target);
  return { replacementMs: drainedAt - startedAt, drainMs: performance.now() - drainedAt, ending };
}

/** Prints a line a second until the returned function is called. */
function startProgress({ scenario, settings, fleet, options }: Stage, schedule: Schedule): () => void {
  const startedAt = performance.now();
  let last: FleetProgress | undefined;
  let isAsking = false;
  const report = async () => {
    // One call at a time: a late answer delays the next line.
    if (isAsking) return;
    isAsking = true;
    const now = await fleet.progress().finally(() => (isAsking = false));
    const second = Math.round((performance.now() - startedAt) / 1000);
    const words = [
      `${scenario.name} ${second}/${settings.seconds} s`,
      `connected ${now.ready}`,
      `closed ${now.closed}`,
      `records ${schedule.taken}`,
      `delivered ${now.delivered} (+${now.delivered - (last?.delivered ?? 0)})`,
    ];
    last = now;
    options.onProgress(words.join('  '));
  };
  const timer = setInterval(() => void report().catch(() => undefined), 1000);
  return () => clearInterval(timer);
}
