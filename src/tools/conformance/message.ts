export const TRANSPORT_WS = 'graphql-transport-ws';

/** A message of graphql-transport-ws, as it arrived. */
export interface ProtocolMessage {
  readonly type: string;
  readonly id?: string;
  readonly payload?: unknown;
}

export function subscribeMessage(id: string, query: string, variables?: object, extensions?: object): object {
  return {
    id,
    type: 'subscribe',
    payload: { query, ...(variables && { variables }), ...(extensions && { extensions }) },
  };
}

/** A message as it arrived. Text that is no JSON object becomes a message whose type shows it. */
export function readMessage(text: string): ProtocolMessage {
  try {
    const message: unknown = JSON.parse(text);
    if (typeof message === 'object' && message !== null) return message as ProtocolMessage;
  } catch {
    // Shown as it is.
  }
  return { type: `no message: ${text.slice(0, 100)}` };
}
