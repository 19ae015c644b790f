import { defineConfig } from 'vite';

const crier = { target: process.env.CRIER_URL ?? 'http://localhost:4000', ws: true };

export default defineConfig({
  // One origin for the page and crier, as a reverse proxy makes it in production.
  server: { proxy: { '/graphql': crier } },
  // The client is linked from the clone, where there is a second graphql-ws.
  resolve: { dedupe: ['graphql-ws'] },
});
