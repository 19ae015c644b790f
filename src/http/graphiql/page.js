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
  clientHeaders = serialized;
  client = graphqlWs.createClient({ url: url.href, connectionParams: headers, retryAttempts: 0 });
  return client;
}

/** A closed socket is an event, not an Error: GraphiQL would show it as {}. */
function readable(error) {
  if (error instanceof Error || Array.isArray(error)) return error;
  return new Error(`the socket was closed: ${error?.code ?? 'no answer'} ${error?.reason ?? ''}`.trim());
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

// sessionStorage: a new tab opens with the operation that is ready to run, a reload keeps what was typed.
ReactDOM.createRoot(document.getElementById('graphiql')).render(
  React.createElement(
    GraphiQL,
    { fetcher, defaultQuery: operation, storage: sessionStorage },
    React.createElement(GraphiQL.Logo, null, document.title),
  ),
);
