import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { freePorts } from '../../stack/port.ts';
import { installHint } from '../../stack/programs.ts';
import { startService } from '../../stack/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A Prometheus of this test that scrapes each second, on loopback. */
export class Prometheus {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /**
   * @param target `host:port` of an admin port
   * @param labels of all series of the target
   */
  static async start(
    t: TestContext,
    target: string,
    labels: Readonly<Record<string, string>>,
    rules: string,
  ): Promise<Prometheus> {
    const folder = await temporaryFolder(t);
    const config = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [rules],
      scrape_configs: [{ job_name: 'crier', static_configs: [{ targets: [target], labels }] }],
    };
    // JSON is YAML.
    await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
    const port = (await freePorts(1))[0]!;
    const url = `http://127.0.0.1:${port}`;
    const service = await startService({
      name: `Prometheus on port ${port}`,
      command: 'prometheus',
      arguments: [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      fix: installHint(['prometheus']),
      isReady: () =>
        fetch(`${url}/-/ready`).then(
          ({ ok }) => ok,
          () => false,
        ),
      timeoutMs: 30_000,
    });
    t.after(() => service.stop());
    return new Prometheus(url);
  }

  /** The samples of an expression now. @throws Error with Prometheus's reason when it is not valid. */
  async query(expr: string): Promise<readonly { metric: Record<string, string>; value: [number, string] }[]> {
    const { result } = await this.#get<{ result: never[] }>(`query?query=${encodeURIComponent(expr)}`);
    return result;
  }

  /** The values of a label in the series of a selector. */
  labelValues(selector: string, label: string): Promise<readonly string[]> {
    return this.#get(`label/${label}/values?match[]=${encodeURIComponent(selector)}`);
  }

  /** Names of the metric families that the target exposes, as the scraped format spells them. */
  async families(): Promise<ReadonlySet<string>> {
    return new Set(Object.keys(await this.#get<object>('metadata')));
  }

  /** The expressions of all rules, and the names of those that record. */
  async rules(): Promise<readonly { readonly name: string; readonly query: string; readonly type: string }[]> {
    interface Group {
      readonly rules: readonly { name: string; query: string; type: string }[];
    }
    const { groups } = await this.#get<{ groups: readonly Group[] }>('rules');
    return groups.flatMap(({ rules }) => rules);
  }

  async #get<Data>(path: string): Promise<Data> {
    const response = await fetch(`${this.#url}/api/v1/${path}`);
    const { data, error } = (await response.json()) as { data: Data; error?: string };
    if (error !== undefined) throw new Error(`${path}: ${error}`);
    return data;
  }
}
