import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { isTotal, openOrderTopic } from './order-topic.js';

/** The backend of the graph. `POST /orders {"total":"12.50"}` places an order, which is paid, shipped and deleted in the next half minute. */
const PORT = Number(process.env['SHOP_PORT'] || 4400);
const STEP_MS = 4_000;
const KEPT_MS = 20_000;

/** @param {unknown} error @returns {never} */
function fail(error) {
  const { message, cause } = /** @type {Error} */ (error);
  process.stderr.write(`${cause instanceof Error ? cause.message : message}; does "npm run stack" run?\n`);
  process.exit(1);
}

const topic = await openOrderTopic().catch(fail);

/** @param {string} orderId @param {string} total */
async function deliver(orderId, total) {
  for (const status of ['PAID', 'SHIPPED']) {
    await delay(STEP_MS);
    await topic.put(orderId, status, total);
  }
  await delay(KEPT_MS);
  await topic.delete(orderId);
}

/** @param {import('node:http').IncomingMessage} request @returns {Promise<[number, object]>} status and body */
async function answer(request) {
  if (request.method !== 'POST' || request.url !== '/orders') return [404, { error: 'there is POST /orders' }];
  const { total } = /** @type {{ total?: unknown }} */ (await json(request));
  if (typeof total !== 'string' || !isTotal(total)) return [400, { error: 'expected a total such as "12.50"' }];
  const orderId = randomBytes(3).toString('hex').toUpperCase();
  await topic.put(orderId, 'PLACED', total);
  deliver(orderId, total).catch(fail);
  return [201, { orderId }];
}

createServer((request, response) => {
  void answer(request)
    .catch((error) => /** @type {const} */ ([500, { error: String(error) }]))
    .then(([status, body]) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    );
}).listen(PORT, '127.0.0.1', () => process.stdout.write(`The shop takes orders at http://127.0.0.1:${PORT}\n`));
