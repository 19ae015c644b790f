import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';

/**
 * Gives each pod of NAMESPACE that SELECTOR selects a deletion cost, once: the older, the higher. A ReplicaSet that shrinks then removes its
 * newest pods, which have the fewest sockets. A pod without a cost counts as 0, so a pod that is newer than the last run goes first.
 */
const ANNOTATION = 'controller.kubernetes.io/pod-deletion-cost';
const MAX_COST = 2 ** 31 - 1;
const TIMEOUT_MS = 10_000;
const { KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT, NAMESPACE, SELECTOR } = process.env;
const CREDENTIALS = process.env.CREDENTIALS ?? '/var/run/secrets/kubernetes.io/serviceaccount';
const path = `/api/v1/namespaces/${NAMESPACE}/pods`;

/**
 * @typedef {{ items: { metadata: { name: string, creationTimestamp: string, deletionTimestamp?: string, annotations?: Record<string, string> } }[] }} PodList
 */

/**
 * Sends a request to the Kubernetes API and returns the reply. @throws Error for any status but 200.
 * @param {string} method @param {string} path @param {object} [body] @returns {Promise<unknown>}
 */
async function send(method, path, body) {
  /** @type {import('node:http').IncomingMessage} */
  const reply = await new Promise((resolve, reject) => {
    const sent = request(
      {
        host: KUBERNETES_SERVICE_HOST,
        port: KUBERNETES_SERVICE_PORT,
        ca: readFileSync(`${CREDENTIALS}/ca.crt`),
        method,
        path,
        headers: {
          authorization: `Bearer ${readFileSync(`${CREDENTIALS}/token`, 'utf8').trim()}`,
          'content-type': 'application/merge-patch+json',
        },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      },
      resolve,
    );
    sent.once('error', reject);
    sent.end(body && JSON.stringify(body));
  });
  const answer = await text(reply);
  if (reply.statusCode !== 200) throw new Error(`${method} ${path}: ${reply.statusCode} ${answer}`);
  /** @type {unknown} */
  const value = JSON.parse(answer);
  return value;
}

const { items } = /** @type {PodList} */ (
  await send('GET', `${path}?labelSelector=${encodeURIComponent(SELECTOR ?? '')}`)
);
for (const { metadata } of items) {
  if (metadata.deletionTimestamp || metadata.annotations?.[ANNOTATION] !== undefined) continue;
  const cost = MAX_COST - Math.floor(Date.parse(metadata.creationTimestamp) / 1000);
  try {
    await send('PATCH', `${path}/${metadata.name}`, { metadata: { annotations: { [ANNOTATION]: String(cost) } } });
    process.stdout.write(`${metadata.name}: ${cost}\n`);
  } catch (error) {
    // The pod may have ended meanwhile. The others still get theirs, and the job fails visibly.
    process.stderr.write(`${/** @type {Error} */ (error).message}\n`);
    process.exitCode = 1;
  }
}
