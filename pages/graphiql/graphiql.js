/* global GraphiQL, React, ReactDOM, document, graphqlWs, location, sessionStorage */
// Runs in the browser as a classic script, after React, GraphiQL and graphql-ws.

const { operation } = JSON.parse(document.getElementById('settings').textContent);

const url = new URL('graphql', location.href);
url.protocol = url.protocol.replace('http', 'ws');

/** The socket of the last operation; the Headers editor's content is its `connection_init` payload. */
let client;
let clientHeaders;

function clientFor(headers) {
  const serialized = JSON.stringify(headers);
  if (client && clientHeaders === serialized) return client;
  client?.dispose();
  // Perhaps the schema could not be read with the former headers.
  if (client) render();
  clientHeaders = serialized;
  client = graphqlWs.createClient({ url: url.href, connectionParams: headers, retryAttempts: 0 });
  return client;
}

/** A closed socket is an event, not an Error: GraphiQL would show it as {}. */
function readable(error) {
  if (error instanceof Error || Array.isArray(error)) return error;
  const closed = `the socket was closed: ${error?.code ?? 'no answer'} ${error?.reason ?? ''}`.trim();
  return [
    { message: error?.code === 4403 ? `${closed}; a token goes into the tab Headers: { "token": "…" }` : closed },
  ];
}

/** Every operation, introspection included, goes through the WebSocket. */
function fetcher({ query, variables, operationName }, { headers = {} } = {}) {
  const results = clientFor(headers).iterate({ query, variables, operationName });
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () =>
      results.next().catch((error) => {
        throw readable(error);
      }),
    return: () => results.return(),
  };
}

const root = ReactDOM.createRoot(document.getElementById('graphiql'));

/** GraphiQL reads the schema for each new fetcher. */
function render() {
  // sessionStorage: a new tab opens with the operation that is ready to run, a reload keeps what was typed.
  root.render(
    React.createElement(
      GraphiQL,
      { fetcher: (...request) => fetcher(...request), defaultQuery: operation, storage: sessionStorage },
      React.createElement(GraphiQL.Logo, null, document.title),
    ),
  );
}

render();
