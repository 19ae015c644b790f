/* global document, location, sessionStorage, Worker */
import { GraphiQL } from 'graphiql';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { EventList } from './event-list.ts';
import { HeaderlessStorage } from './headerless-storage.ts';
import { Session } from './session.ts';
import { StatusLine } from './status-line.ts';

const { operation, sources } = JSON.parse(document.getElementById('settings').textContent);

const WORKERS = { graphql: 'graphql.worker.js', json: 'json.worker.js' };
globalThis.MonacoEnvironment = {
  getWorker: (_, language) =>
    new Worker(new URL(WORKERS[language] ?? 'editor.worker.js', import.meta.url), { type: 'module' }),
};

const url = new URL('graphql', location.href);
url.protocol = url.protocol.replace('http', 'ws');

const status = new StatusLine(document.getElementById('status'), sources);
const events = new EventList(document.getElementById('events'));
const session = new Session({
  url: url.href,
  onChange: () => status.show(session),
  onEvent: (result) => events.add(result),
  onHeaders: () => render(),
});
const storage = new HeaderlessStorage(sessionStorage);
const root = createRoot(document.getElementById('graphiql'));

/** GraphiQL reads the schema for each new fetcher: perhaps it could not be read with the former headers. */
function render() {
  // sessionStorage: a new tab opens with the operation that is ready to run, a reload keeps what was typed.
  root.render(
    createElement(
      GraphiQL,
      {
        fetcher: (...request) => session.fetch(...request),
        defaultQuery: operation,
        defaultEditorToolsVisibility: false,
        storage,
      },
      createElement(GraphiQL.Logo, null, createElement('h1', null, document.title)),
    ),
  );
}

render();
status.show(session);
