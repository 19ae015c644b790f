import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The answer for a schema version: its schema, or an error of AWS. A text is sent as it is; undefined: the request stays open. */
export type GlueAnswer =
  | { readonly DataFormat: string; readonly SchemaDefinition: string }
  | { readonly __type: string; readonly message: string }
  | string
  | undefined;

export interface GlueServer {
  /** A value for AWS_ENDPOINT_URL_GLUE. */
  readonly url: string;
  /** By the id of a schema version. Glue says of all others that there is none. */
  readonly answers: Map<string, GlueAnswer>;
  /** The ids that were asked for, in order. */
  readonly asked: string[];
  close(): void;
}

const NOT_FOUND = { __type: 'EntityNotFoundException', message: 'Schema version is not found.' };

/** Starts what answers GetSchemaVersion of AWS Glue, in JSON 1.1 of AWS, on loopback. */
export async function startGlueServer(): Promise<GlueServer> {
  const answers = new Map<string, GlueAnswer>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let text = '';
      for await (const chunk of request) text += String(chunk);
      const { SchemaVersionId: id } = JSON.parse(text) as { readonly SchemaVersionId: string };
      const isQuestion = request.headers['x-amz-target'] === 'AWSGlue.GetSchemaVersion';
      asked.push(id);
      const answer = isQuestion
        ? answers.has(id)
          ? answers.get(id)
          : NOT_FOUND
        : { __type: 'UnknownOperationException', message: '' };
      if (answer === undefined) return;
      const isError = typeof answer === 'object' && '__type' in answer;
      const body = typeof answer === 'string' ? answer : JSON.stringify({ SchemaVersionId: id, ...answer });
      response.writeHead(isError ? 400 : 200, { 'content-type': 'application/x-amz-json-1.1' }).end(body);
    })();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, answers, asked, close };
}
