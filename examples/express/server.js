import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'crier';
import express from 'express';
import { graph } from './graph.js';

const crier = await createServer({ graph, listen: false });

const app = express();
app.get('/health', (request, response) => response.send('ok'));
app.all('/graphql', (request, response) => crier.handleRequest(request, response));

const httpServer = createHttpServer(app);
crier.attach(httpServer);
httpServer.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  const { port } = httpServer.address();
  console.log(`http://127.0.0.1:${port}/graphql`);
});

// Only for this example: without Kafka the records come from here.
let n = 0;
setInterval(() => crier.publish('ticks', { value: { n: ++n } }), 500).unref();

process.once('SIGTERM', async () => {
  httpServer.close();
  await crier.close();
});
