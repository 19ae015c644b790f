import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { it } from 'node:test';
import { rolldown } from 'rolldown';
import { startGraph } from '../../src/library/testing.ts';
import { defineGraph } from '../../src/library/crier.ts';
import { fileOfPage, replaced } from '../docs/page-files.ts';
import { openPage } from '../support/browser.ts';
import { serveFolder } from './static-server.ts';

const GRAPH = defineGraph({
  schema: `
    type Subscription { order(order_id: ID): Order @kafka(topic: "orders", match: [{ arg: "order_id", path: "order_id" }], state: {}) }
    type Order { order_id: ID! status: String }`,
});
const MAIN = `
  import { createRoot } from 'react-dom/client';
  import { Order } from './orders.jsx';
  createRoot(document.body.firstElementChild).render(<Order id="7" />);`;

it('the component of docs/recipes/react.md shows the state of an order, and its changes', async (t) => {
  const folder = await mkdtemp(join(resolve('dist'), 'react-'));
  t.after(() => rm(folder, { recursive: true }));
  const url = await serveFolder(t, folder);
  const graph = await startGraph(GRAPH, { allowedOrigins: [new URL(url).origin] });
  t.after(() => graph.close());
  await graph.publish('orders', { orderId: '7', status: 'PAID' }, { key: '7' });
  const address = graph.url.replace('http', 'ws');
  const page = replaced(fileOfPage('docs/recipes/react.md', 'orders.jsx'), [['ws://localhost:4000/graphql', address]]);
  await writeFile(join(folder, 'orders.jsx'), page);
  await writeFile(join(folder, 'main.jsx'), MAIN);
  await writeFile(
    join(folder, 'index.html'),
    '<!doctype html><body><main></main><script type="module" src="main.js"></script>',
  );
  const bundle = await rolldown({
    input: join(folder, 'main.jsx'),
    platform: 'browser',
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    resolve: { alias: { '@crier/client': resolve('dist/client/client.js') } },
  });
  await bundle.write({ file: join(folder, 'main.js'), format: 'esm' });
  await bundle.close();

  const browser = await openPage(t);
  await browser.goto(url);
  const status = browser.getByRole('status');
  await status.filter({ hasText: 'PAID' }).waitFor();
  await graph.publish('orders', { orderId: '8', status: 'LOST' }, { key: '8' });
  await graph.publish('orders', { orderId: '7', status: 'SHIPPED' }, { key: '7' });
  await status.filter({ hasText: 'SHIPPED' }).waitFor();
});
