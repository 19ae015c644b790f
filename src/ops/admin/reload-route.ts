import { sendJson } from '../../gateway/http/route.ts';
import type { Route } from '../../gateway/http/route.ts';
import type { Logger } from '../../base/log.ts';
import { NOT_ASKED } from './peers.ts';
import type { Answers, Peers } from './peers.ts';

/** What became of a reload on one pod. */
export interface PodReload {
  readonly outcome: 'swapped' | 'unchanged' | 'refused';
  /** Of the graph that the pod serves now. */
  readonly revision: string;
  /** Why it was refused, one line each. */
  readonly problems?: readonly string[];
}

/** `begin` is answered at once; `end` when the last reload that has begun is over, with what became of it. */
export type ReloadQuestion = 'begin' | 'end';

export interface ReloadReport {
  readonly pods: readonly ({ readonly pod: string } & PodReload)[];
  /** Pods that have not answered: whether they have reloaded is not known. */
  readonly silent: readonly string[];
  readonly note?: string;
}

/** Longest wait in ms for the end of a reload on all pods. */
const PATIENCE_MS = 90_000;

/** Answers the questions of other pods, and of this one. @param reload never rejects */
export function answerReloads(
  reload: () => Promise<PodReload>,
): (question: ReloadQuestion) => Promise<PodReload | null> {
  let last: Promise<PodReload> | undefined;
  return async (question) => {
    if (question === 'end') return (await last) ?? null;
    last = reload();
    return null;
  };
}

/** Reloads the graph of all pods: each reads its own folder. Takes at most 95 s; never rejects. */
export async function reloadPods(peers: Peers<ReloadQuestion, PodReload | null>): Promise<ReloadReport> {
  // A pod that ended without taking leave is expected for half a minute, but not for the whole time that a reload may take.
  const begun = await peers.ask('begin');
  const ended = await peers.ask('end', { patienceMs: PATIENCE_MS, among: begun.ids });
  const pods = ended.answers.flatMap(({ pod, answer }) => (answer ? [{ pod, ...answer }] : []));
  const silent = [...begun.silent, ...ended.silent];
  const notes = notesOf(pods, silent, begun);
  return { pods, silent, ...(notes.length > 0 && { note: notes.join('; ') }) };
}

function notesOf(
  pods: ReloadReport['pods'],
  silent: readonly string[],
  { isAsked }: Pick<Answers<unknown>, 'isAsked'>,
): string[] {
  const isMixed = new Set(pods.map(({ revision }) => revision)).size > 1;
  return [
    ...(isAsked ? [] : [`only this pod was asked: ${NOT_ASKED}`]),
    ...(silent.length === 0
      ? []
      : [`${silent.join(', ')} have not answered: their logs and /readyz say what they serve`]),
    ...(isMixed ? ['the pods serve different graphs: see revision'] : []),
  ];
}

/** `POST /admin/reload` while the pod starts. */
export const RELOAD_WHILE_STARTING: Route = {
  methods: ['POST'],
  handle: (_request, response) =>
    sendJson(response, 503, {
      note: 'the pod is starting: ask again when /startupz answers with 200, or ask another pod',
    }),
};

export interface ReloadRouteOptions {
  readonly peers: Peers<ReloadQuestion, PodReload | null>;
  readonly log: Logger;
}

/** `POST /admin/reload`: 200 if all pods serve the graphs of their folders, 202 if that is not known of some, 422 if one has refused. */
export function reloadRoute({ peers, log }: ReloadRouteOptions): Route {
  return {
    methods: ['POST'],
    handle: async (_request, response) => {
      const report = await reloadPods(peers);
      log.info(report, 'an operator reloaded the graph');
      sendJson(response, statusOf(report), report);
    },
  };
}

function statusOf({ pods, silent, note }: ReloadReport): number {
  if (pods.some(({ outcome }) => outcome === 'refused')) return 422;
  return silent.length > 0 || note !== undefined ? 202 : 200;
}
