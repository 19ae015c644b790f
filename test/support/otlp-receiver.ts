import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** A span as a collector receives it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** '' for a root. */
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly name: string;
  /** 1: internal, 3: client, 4: producer, 5: consumer. */
  readonly kind: number;
  readonly startedAt: bigint;
  readonly endedAt: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly isError: boolean;
  /** Attributes of the process. */
  readonly resource: Readonly<Record<string, unknown>>;
}

/** An OTLP collector over HTTP with protobuf, for the test. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly requests: IncomingHttpHeaders[] = [];
  /** `hang`: requests get no answer; a number: they get this status. */
  mode: 'accept' | 'hang' | number = 'accept';
  url = '';

  async start(t: TestContext): Promise<this> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.requests.push(request.headers);
        if (this.mode === 'hang') return;
        if (this.mode !== 'accept') return void response.writeHead(this.mode).end();
        this.spans.push(...spansOf(Buffer.concat(chunks)));
        response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return this;
  }

  named(name: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.name === name);
  }
}

/** Fields of a protobuf message by number: varints and fixed numbers as bigint, the others as bytes. */
type Fields = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

function fieldsOf(bytes: Buffer): Fields {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    let value: bigint | Buffer;
    if ((tag & 7) === 0) value = varint();
    else {
      const type = tag & 7;
      const length = type === 2 ? Number(varint()) : type === 1 ? 8 : 4;
      const slice = bytes.subarray(at, at + length);
      at += length;
      value = type === 1 ? slice.readBigUInt64LE() : slice;
    }
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
  }
  return fields;
}

const messages = (fields: Fields, number: number) =>
  (fields.get(number) ?? []).map((bytes) => fieldsOf(bytes as Buffer));
const bytesIn = (fields: Fields, number: number) => (fields.get(number)?.[0] ?? Buffer.alloc(0)) as Buffer;
const hex = (fields: Fields, number: number) => bytesIn(fields, number).toString('hex');

function attributesOf(fields: Fields, number: number): Record<string, unknown> {
  return Object.fromEntries(
    messages(fields, number).map((pair) => [bytesIn(pair, 1).toString(), valueOf(messages(pair, 2)[0]!)]),
  );
}

function valueOf(any: Fields): unknown {
  const [[number, [value]] = [0, [undefined]]] = [...any] as [number, (bigint | Buffer)[]][];
  if (number === 1) return String(value);
  if (number === 3) return Number(value);
  return value;
}

function spansOf(request: Buffer): ReceivedSpan[] {
  return messages(fieldsOf(request), 1).flatMap((resourceSpans) => {
    const resource = attributesOf(messages(resourceSpans, 1)[0]!, 1);
    const spans = messages(resourceSpans, 2).flatMap((scope) => messages(scope, 2));
    return spans.map((span) => ({
      traceId: hex(span, 1),
      spanId: hex(span, 2),
      traceState: bytesIn(span, 3).toString(),
      parentSpanId: hex(span, 4),
      name: bytesIn(span, 5).toString(),
      kind: Number(span.get(6)?.[0] ?? 0),
      startedAt: (span.get(7)?.[0] ?? 0n) as bigint,
      endedAt: (span.get(8)?.[0] ?? 0n) as bigint,
      attributes: attributesOf(span, 9),
      links: messages(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
      isError: messages(span, 15).some((status) => status.get(3)?.[0] === 2n),
      resource,
    }));
  });
}
