import { sendJson, sendText } from '../../gateway/http/route.ts';
import type { Route } from '../../gateway/http/route.ts';
import { NOT_ASKED } from './peers.ts';
import type { Peers } from './peers.ts';
import type { PodAnswer, PodQuestion } from './pod-connections.ts';
import { selectionOfQuery } from './selection.ts';

/** `GET /admin/connections`: what one identity has open, on all pods. */
export function listRoute(peers: Peers<PodQuestion, PodAnswer>): Route {
  return {
    methods: ['GET'],
    handle: async (_request, response, url) => {
      const selection = selectionOfQuery(url);
      if (typeof selection === 'string') return sendText(response, 400, `${selection}\n`);
      const { answers, silent, isAsked } = await peers.ask({ list: selection });
      const rows = answers.flatMap(({ pod, answer: { connections = [] } }) =>
        connections.map((connection) => ({ pod, ...connection })),
      );
      sendJson(response, silent.length > 0 || !isAsked ? 202 : 200, {
        open: answers.reduce((sum, { answer }) => sum + (answer.open ?? 0), 0),
        connections: rows,
        silent,
        ...(!isAsked && { note: `only this pod was asked: ${NOT_ASKED}` }),
      });
    },
  };
}
