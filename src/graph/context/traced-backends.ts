import { GraphQLError } from 'graphql';
import type { ExecutionTrace } from '../../ops/tracing/execution-trace.ts';
import type { BackendPort, BackendReply, BackendRequest } from './execution-backends.ts';

/** The backends of a traced execution: each request has a span, and the backend receives its context. */
export class TracedBackends implements BackendPort {
  readonly #port: BackendPort;
  readonly #trace: ExecutionTrace;

  constructor(port: BackendPort, trace: ExecutionTrace) {
    this.#port = port;
    this.#trace = trace;
  }

  async send(name: string, request: BackendRequest): Promise<BackendReply> {
    const trace = this.#trace.startRequest(name, request.method);
    try {
      // A header that the graph sets stands.
      const answer = await this.#port.send(name, { ...request, headers: { ...trace.headers, ...request.headers } });
      trace.end();
      return answer;
    } catch (error) {
      const { code, status } = error instanceof GraphQLError ? error.extensions : {};
      trace.fail(typeof code === 'string' ? code : 'error', typeof status === 'number' ? status : undefined);
      throw error;
    }
  }
}
