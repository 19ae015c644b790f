import type { ServerResponse } from 'node:http';
import { NOT_ASKED } from '../admin/peers.ts';
import { readBody } from '../../gateway/http/request-body.ts';
import { sendBody, sendJson, sendText } from '../../gateway/http/route.ts';
import type { Route } from '../../gateway/http/route.ts';
import { livePageRoutes } from '../live/live-page.ts';
import { contentTypeFor, expose } from '../metrics/exposition.ts';
import type { Profiling } from '../profiling/profiling-routes.ts';
import type { Member } from './members.ts';
import { asRegistry } from './metric-families.ts';
import type { PodMetrics } from './pod-metrics.ts';
import type { PodProcess } from './pod-process.ts';

export interface PodRoutesOptions {
  readonly members: () => readonly Member[];
  readonly metrics: PodMetrics;
  /** Of this process. */
  readonly profiling: Profiling;
}

/** The name of this process, which starts the others. */
const MAIN = 'main';
const MAX_BODY_BYTES = 16_384;
/** Longest waits in ms for a process: for its answer, its part of a table, a profile of a minute, a reload of all pods. */
const TIMEOUT_MS = { answer: 10_000, table: 2_000, profile: 90_000, reload: 100_000 };

/** The routes of the admin port of a pod of several processes. `?process=<name>` chooses one of them. */
export function podRoutes(options: PodRoutesOptions): [string, Route][] {
  const { members, metrics, profiling } = options;
  return [
    ['/metrics', metricsRoute(metrics)],
    ...livePageRoutes(),
    ['/live/graphql', { methods: ['GET', 'POST'], handle: forwardTo(members, TIMEOUT_MS.answer) }],
    ['/admin/connections', allRoute(() => serving(members()), 'GET', TIMEOUT_MS.answer)],
    ['/admin/connections/revoke', allRoute(() => serving(members()), 'POST', TIMEOUT_MS.answer)],
    ['/admin/reload', allRoute(() => servingOf(members(), ['gateway', 'worker']), 'POST', TIMEOUT_MS.reload)],
    ['/debug/operations', tableRoute(members, 'operations', 'known')],
    ['/debug/connections', tableRoute(members, 'connections', 'open')],
    ['/debug/tunables', { methods: ['GET'], handle: forwardTo(members, TIMEOUT_MS.answer) }],
    ...profiling.routes.map(([path, route]): [string, Route] => [path, profileRoute(members, route)]),
  ];
}

function metricsRoute(metrics: PodMetrics): Route {
  return {
    methods: ['GET'],
    isPublic: true,
    handle: async ({ headers }, response) => {
      const contentType = contentTypeFor(headers.accept);
      const text = await expose(asRegistry(await metrics.read()), contentType);
      response.setHeader('vary', 'accept');
      sendBody(response, 200, contentType, text);
    },
  };
}

/** Sends the answer of the chosen process, by default that of the first gateway that serves. */
function forwardTo(members: () => readonly Member[], timeoutMs: number): Route['handle'] {
  return (request, response, url) => {
    const [process] = chosen(members(), url);
    if (typeof process === 'string') return sendText(response, 400, process);
    if (!process) return sendText(response, 503, 'no process of this pod serves\n');
    return process.forward(request, response, timeoutMs);
  };
}

/** A profile is one of a process, so it must be named. */
function profileRoute(members: () => readonly Member[], own: Route): Route {
  const forward = forwardTo(members, TIMEOUT_MS.profile);
  return {
    methods: own.methods,
    handle: (request, response, url) => {
      const name = url.searchParams.get('process');
      if (name === MAIN) return own.handle(request, response, url);
      if (name === null) return sendText(response, 400, unknownProcess(members()));
      return forward(request, response, url);
    },
  };
}

/** The rows of all gateways with most in the column `by`, each with the name of its process. */
function tableRoute(members: () => readonly Member[], rowsName: string, countName: string): Route {
  return {
    methods: ['GET'],
    handle: async (request, response, url) => {
      const processes = chosen(members(), url);
      const [problem] = processes;
      if (typeof problem === 'string') return sendText(response, 400, problem);
      const asked = await Promise.all(
        (processes as PodProcess[]).map(async (process) => ({
          process: process.name,
          answer: await process.ask(request.url!, TIMEOUT_MS.table),
        })),
      );
      const refused = asked.find(({ answer }) => answer && answer.status !== 200)?.answer;
      if (refused) return sendText(response, refused.status, refused.body.toString());
      const tables = asked.flatMap(({ process, answer }) =>
        answer ? [{ process, table: JSON.parse(answer.body.toString()) as Table }] : [],
      );
      const by = (tables[0]?.table['by'] ?? '') as string;
      const rows = tables
        .flatMap(({ process, table }) => (table[rowsName] as Table[]).map((row): Table => ({ process, ...row })))
        .sort((one, other) => Number(other[by]) - Number(one[by]));
      sendJson(response, 200, {
        by,
        [countName]: tables.reduce((sum, { table }) => sum + Number(table[countName]), 0),
        [rowsName]: rows.slice(0, Number(url.searchParams.get('limit') ?? DEFAULT_ROWS)),
        silent: asked.flatMap(({ process, answer }) => (answer ? [] : [process])),
      });
    },
  };
}

const DEFAULT_ROWS = 20;
type Table = Readonly<Record<string, unknown>>;

/** A question to all pods. The process that is asked takes it to all others, over Redis; while Redis is away, each of this pod is asked. */
function allRoute(processes: () => readonly PodProcess[], method: 'GET' | 'POST', timeoutMs: number): Route {
  return {
    methods: [method],
    handle: async (request, response) => {
      const text = method === 'POST' ? await readBody(request, MAX_BODY_BYTES) : '';
      if (text === undefined) return sendText(response, 413, `expected at most ${MAX_BODY_BYTES} bytes\n`);
      const body = Buffer.from(text);
      const { 'content-type': type = 'application/json' } = request.headers;
      const given = { method, body, headers: { 'content-type': type, 'content-length': String(body.length) } };
      const [first, ...others] = processes();
      const answer = await first?.ask(request.url!, timeoutMs, given);
      if (!answer) return sendText(response, 503, 'no process of this pod answers\n');
      const isAlone = answer.body.includes(NOT_ASKED);
      const rest = isAlone ? await Promise.all(others.map((one) => one.ask(request.url!, timeoutMs, given))) : [];
      sendAnswers(response, [answer, ...rest.flatMap((one) => one ?? [])]);
    },
  };
}

type Answers = readonly { readonly status: number; readonly body: Buffer }[];

/** The answer of the first, with the numbers and the rows of the others. */
function sendAnswers(response: ServerResponse, [first, ...others]: Answers): void {
  const text = first!.body.toString();
  if (!text.startsWith('{')) return sendText(response, first!.status, text);
  const merged = { ...(JSON.parse(text) as Record<string, unknown>) };
  for (const { body } of others) {
    const other = JSON.parse(body.toString()) as Record<string, unknown>;
    for (const [name, value] of Object.entries(other)) {
      if (typeof value === 'number') merged[name] = Number(merged[name] ?? 0) + value;
      else if (Array.isArray(value)) merged[name] = [...((merged[name] as unknown[]) ?? []), ...(value as unknown[])];
    }
  }
  sendJson(response, Math.max(first!.status, ...others.map(({ status }) => status)), merged);
}

/** The processes that a request is about: one, all gateways that serve, or the text of a refusal. */
function chosen(members: readonly Member[], url: URL): readonly (PodProcess | string)[] {
  const name = url.searchParams.get('process');
  if (name === null) return serving(members);
  const member = members.find((one) => one.name === name);
  if (!member) return [unknownProcess(members)];
  return member.process?.isServing ? [member.process] : [];
}

/** Gateways; the worker counts only in a pod without one that serves. */
function serving(members: readonly Member[]): PodProcess[] {
  const gateways = servingOf(members, ['gateway']);
  return gateways.length > 0 ? gateways : servingOf(members, ['worker']);
}

function servingOf(members: readonly Member[], roles: readonly Member['role'][]): PodProcess[] {
  return members.flatMap(({ role, process }) => (roles.includes(role) && process?.isServing ? process : []));
}

function unknownProcess(members: readonly Member[]): string {
  return `process: expected one of ${[MAIN, ...members.map(({ name }) => name)].join(', ')}\n`;
}
