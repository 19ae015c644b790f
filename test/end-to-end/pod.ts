import { metricOf } from '../support/metric.ts';
import { switchSettings } from '../support/switches.ts';
import { waitFor } from '../support/wait-for.ts';

/** A hanging pod fails the test after this time, with its log. */
export const PATIENCE_MS = 60_000;

/** The environment of a pod: `settings`, the switches of the run and free local ports. */
export function podEnvironment(settings: Readonly<Record<string, string>>): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    DRAIN_DELAY_MS: '0',
    DRAIN_SPREAD_MS: '0',
    ...switchSettings(),
    ...settings,
  };
}

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** crier, as a test sees it from outside: what it writes, and its ports. `startPod` runs it in the test's process, `spawnPod` in its own. */
export abstract class Pod {
  /** Text written to standard output. */
  output = '';
  /** Text written to standard error. */
  log = '';

  /** URLs that the pod has announced, by what is there. */
  protected abstract get addresses(): Readonly<Record<string, string>>;

  abstract get isEnded(): boolean;

  /** Drains the pod. Idempotent. */
  abstract stop(): Promise<unknown>;

  /** `ws://host:port/graphql` */
  get url(): string {
    return this.#address('websocket');
  }

  /** `http://host:port/graphql` */
  get endpoint(): string {
    return this.#address('http');
  }

  /** `http://host:port` of the admin port. */
  get admin(): string {
    return new URL(this.#address('admin')).origin;
  }

  /** Lines of the log. */
  get lines(): readonly LogLine[] {
    return this.log
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as LogLine);
  }

  /** Status and body of `/readyz`. */
  async readiness(): Promise<{ status: number; body: Record<string, unknown> }> {
    const response = await fetch(`${this.admin}/readyz`);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  /** Resolves when `/readyz` has these details. */
  async reports(details: Readonly<Record<string, unknown>>): Promise<void> {
    const wanted = JSON.stringify(details);
    const found = async () => {
      const { body } = await this.readiness();
      return JSON.stringify(Object.fromEntries(Object.keys(details).map((name) => [name, body[name]]))) === wanted;
    };
    await this.until(`${wanted} in /readyz`, found);
  }

  /** Resolves when a value of `/metrics` is at least `count`. `name` includes the labels. */
  async counts(name: string, count: number): Promise<void> {
    await this.until(`${name} ${count}`, async () => (await this.metric(name)) >= count);
  }

  /** A value of `/metrics`; 0 if it is absent. */
  metric(name: string): Promise<number> {
    return metricOf(this.admin, name);
  }

  /** Resolves when the condition is met. @throws Error with the pod's log when the pod ends first, or after a minute. */
  async until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    await waitFor(what, async () => this.isEnded || (await condition()), PATIENCE_MS).catch((error: Error) => {
      throw new Error(`${error.message}\n${this.log}`);
    });
    if (this.isEnded) throw new Error(`crier ended while the test waited for ${what}\n${this.log}`);
  }

  #address(name: string): string {
    const address = this.addresses[name];
    if (address === undefined) throw new Error(`no address "${name}" in the output:\n${this.output}`);
    return address;
  }
}
