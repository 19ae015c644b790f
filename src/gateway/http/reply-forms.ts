import { isUtf8, mediaTypeOf, parametersOf } from './media-type.ts';

/** How a stream of results looks: `multipart_graphql` has the boundary that several clients expect, and name in `accept`. */
export type StreamKind = 'sse' | 'multipart' | 'multipart_graphql';

type JsonType = 'application/json' | 'application/graphql-response+json';

/** In what an `accept` header takes results. At least one of both is there. */
export interface ReplyForms {
  /** Of a single reply. */
  readonly json: JsonType | undefined;
  readonly stream: StreamKind | undefined;
  /** True: a router takes the results of a subscription as posts, in Apollo's HTTP callback protocol. */
  readonly isCallback: boolean;
  /** Of the result of a query or mutation: a stream of one event only if the client takes nothing else, or rates it higher. */
  readonly result: 'json' | 'stream';
  /** Of an operation that is refused: what the client rates higher, or else names first. */
  readonly refusal: 'json' | 'stream';
}

/** A type that an `accept` header names (RFC 9110, section 12.5.1). */
interface Range {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  /** 0: not acceptable. */
  readonly quality: number;
  /** The lower, the earlier. */
  readonly index: number;
}

interface Offer<T> {
  readonly form: T;
  readonly quality: number;
  readonly index: number;
}

const JSON_TYPES: readonly JsonType[] = ['application/json', 'application/graphql-response+json'];
/** These take no stream: a client that takes any type expects one reply. */
const JSON_WILDCARDS = ['application/*', '*/*'];

/** undefined: the endpoint has nothing that the header takes. */
export function replyForms(accept?: string): ReplyForms | undefined {
  const ranges = rangesOf(accept || '*/*');
  const inUtf8 = ranges.filter(({ parameters }) => isUtf8(parameters));
  const json = best(JSON_TYPES.map((type) => offerOf(type, [type, ...JSON_WILDCARDS], inUtf8)));
  const stream = best([
    offerOf<StreamKind>('sse', ['text/event-stream', 'text/*'], inUtf8),
    ...ranges.filter(isOfSubscriptions).map((range) => ({ ...range, form: multipartOf(range) })),
  ]);
  if (!json)
    return stream && { json: undefined, stream: stream.form, isCallback: false, result: 'stream', refusal: 'stream' };
  const isCallback = inUtf8.some(isOfCallbacks);
  if (!stream) return { json: json.form, stream: undefined, isCallback, result: 'json', refusal: 'json' };
  return {
    json: json.form,
    stream: stream.form,
    isCallback,
    result: stream.quality > json.quality ? 'stream' : 'json',
    refusal: best<unknown>([json, stream]) === stream ? 'stream' : 'json',
  };
}

/** Further ones are not looked at: browsers send ten, and each is parsed before any limit counts the request. */
const MAX_RANGES = 32;

function rangesOf(accept: string): Range[] {
  const ranges: Range[] = [];
  for (const [text] of accept.matchAll(/(?:"(?:[^"\\]|\\.)*"?|[^,"])+/g)) {
    const parameters = parametersOf(text);
    const quality = qualityOf(parameters.get('q'));
    if (ranges.push({ type: mediaTypeOf(text), parameters, quality, index: ranges.length }) === MAX_RANGES) break;
  }
  return ranges;
}

/** A weight that cannot be read counts as none. */
function qualityOf(weight = '1'): number {
  return /^(?:0(?:\.\d*)?|1(?:\.0*)?)$/.test(weight) ? Number(weight) : 1;
}

/** Without the parameter, the client wants parts of one result (`@defer`), which crier does not have. */
function isOfSubscriptions({ type, parameters }: Range): boolean {
  return type === 'multipart/mixed' && /^1(?:\.0)?$/.test(parameters.get('subscriptionspec') ?? '');
}

function isOfCallbacks({ type, parameters, quality }: Range): boolean {
  return type === 'application/json' && quality > 0 && parameters.get('callbackspec') === '1.0';
}

function multipartOf({ parameters }: Range): StreamKind {
  return parameters.get('boundary') === 'graphql' ? 'multipart_graphql' : 'multipart';
}

/** @param types that name it, the most specific first */
function offerOf<T>(form: T, types: readonly string[], ranges: readonly Range[]): Offer<T> | undefined {
  for (const type of types) {
    const range = ranges.find((one) => one.type === type);
    if (range) return { form, quality: range.quality, index: range.index };
  }
  return undefined;
}

/** The acceptable one of the highest quality; of several, the one that is named first. */
function best<T>(offers: readonly (Offer<T> | undefined)[]): Offer<T> | undefined {
  const acceptable = offers.filter((offer) => offer !== undefined && offer.quality > 0) as Offer<T>[];
  return acceptable.sort((a, b) => b.quality - a.quality || a.index - b.index)[0];
}
