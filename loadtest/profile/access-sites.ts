import { markdownTable } from '../table.ts';
import type { Cells } from '../table.ts';
import { executionsAt } from './executions.ts';
import type { ScriptCoverage } from './executions.ts';
import type { AccessSite, IcLog } from './ic-log.ts';
import { ScriptText } from './script-text.ts';
import type { SourcePlace } from './script-text.ts';

/** A property access with several hidden classes that the flood executes. */
export interface HotSite extends SourcePlace {
  readonly site: AccessSite;
  readonly executionsPerEvent: number;
  /** Of its function in the CPU time of the flood, 0 to 1: an upper bound of what the access costs. */
  readonly share: number;
}

export interface FloodMeasurements {
  readonly log: IcLog;
  /** Counts of the flood. */
  readonly executions: readonly ScriptCoverage[];
  /** Number of records in the flood. */
  readonly events: number;
  /** By `<url>:<line>:<column>` of the function. */
  readonly shares: ReadonlyMap<string, number>;
}

/** Rarer accesses belong to timers and metrics. */
const MIN_EXECUTIONS_PER_EVENT = 0.01;
/** The benchmark's own code in the pod. */
const PROBE = 'loadtest/servers/';
/** Rows of the table of the packages. */
const MAX_PACKAGE_ROWS = 25;

/** Polymorphic and megamorphic accesses that the flood executed, most often first. */
export function hotSites({ log, executions, events, shares }: FloodMeasurements): HotSite[] {
  const coverages = new Map(executions.map((coverage) => [coverage.url.replace(/^file:\/\//, ''), coverage]));
  const texts = new Map<string, ScriptText>();
  const textOf = (script: string) => {
    let text = texts.get(script);
    if (!text) texts.set(script, (text = new ScriptText(script, log.sources.get(script) ?? '')));
    return text;
  };
  const found: HotSite[] = [];
  for (const site of log.sites) {
    const coverage = coverages.get(site.script);
    if (site.state === 'monomorphic' || !coverage) continue;
    const text = textOf(site.script);
    const { line, column } = site;
    const executionsPerEvent = executionsAt(text.offset(line, column), coverage) / events;
    if (executionsPerEvent < MIN_EXECUTIONS_PER_EVENT) continue;
    const share = shares.get(`${coverage.url}:${site.functionPlace}`) ?? 0;
    found.push({ site, ...text.sourcePlace(line, column), executionsPerEvent, share });
  }
  return found.sort((a, b) => b.executionsPerEvent - a.executionsPerEvent || b.share - a.share);
}

/** Markdown tables: crier's own sites, then those of packages and of Node. */
export function siteTables(sites: readonly HotSite[]): string {
  const isPackage = ({ file }: HotSite) => file.includes('node_modules/') || file.startsWith('node:');
  const own = sites.filter((site) => !isPackage(site) && !site.file.startsWith(PROBE));
  const packages = sites.filter(isPackage);
  const shown = packages.slice(0, MAX_PACKAGE_ROWS);
  return `## crier

${markdownTable([HEADINGS, ...own.map(cellsOf)])}
## Packages and Node

The first ${shown.length} of ${packages.length}.

${markdownTable([HEADINGS, ...shown.map(cellsOf)])}`;
}

const HEADINGS: Cells = ['place', 'function', 'access', 'state', 'maps', 'executions per event', 'CPU of the function'];

function cellsOf({ file, line, site, executionsPerEvent, share }: HotSite): Cells {
  return [
    `${file}:${line}`,
    site.functionName,
    `\`${accessText(site)}\``,
    site.state,
    String(site.maps),
    executionsPerEvent < 10 ? executionsPerEvent.toFixed(2) : Math.round(executionsPerEvent).toLocaleString('en'),
    `${(share * 100).toFixed(2)} %`,
  ];
}

function accessText({ kind, property }: AccessSite): string {
  const [, symbol] = /^symbol\("(.*)" hash/.exec(property) ?? [];
  const name = symbol === undefined ? `.${property}` : `[${symbol}]`;
  if (kind === 'Load') return name;
  if (kind === 'Store') return `${name} =`;
  if (kind === 'KeyedLoad') return '[key]';
  if (kind === 'KeyedStore') return '[key] =';
  return `${kind} ${name}`;
}
