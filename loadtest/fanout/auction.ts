import { readFileSync } from 'node:fs';
import { buildASTSchema, getNamedType, isObjectType, parse, print, visit } from 'graphql';
import type { GraphQLObjectType, GraphQLSchema } from 'graphql';
import { channelName } from '../../src/bus/channel.ts';
import { SnakeCase } from '../../src/kafka/decoding/snake-case.ts';

/** Fields of Auction that differ between connections. Only contenders with `identity` select one. */
export type IdentityField = 'tenant' | 'viewer';

const IDENTITY_FIELDS: readonly string[] = ['tenant', 'viewer'] satisfies IdentityField[];
const FIRST_VERSION = 1_000_000;

/** The topic in the graph's schema. */
export const AUCTION_TOPIC = 'auction-events';

/** The SDL of a graph without @kafka, for other servers. */
export function plainSdl(folder = 'loadtest/graphs/fanout'): string {
  const sdl = parse(readFileSync(`${folder}/schema.graphql`, 'utf8'));
  return print(visit(sdl, { Directive: ({ name }) => (name.value === 'kafka' ? null : undefined) }));
}

/** The subscription of every GraphQL contender: all fields, with at most the named identity field. */
export function auctionDocument(identity?: IdentityField): string {
  const schema: GraphQLSchema = buildASTSchema(parse(plainSdl()));
  const select = (type: GraphQLObjectType): string =>
    Object.values(type.getFields())
      .filter(({ name }) => !IDENTITY_FIELDS.includes(name) || name === identity)
      .map((field) => {
        const inner = getNamedType(field.type);
        return isObjectType(inner) ? `${field.name} { ${select(inner)} }` : field.name;
      })
      .join(' ');
  const auction = schema.getType('Auction') as GraphQLObjectType;
  return `subscription Hot($auction_id: Int!) { auction_updated(auction_id: $auction_id) { ${select(auction)} } }`;
}

/** The user of a socket, as its client names it: `viewer` of its result. The same length for all. */
export function userOf(index: number): string {
  return `user-${String(index).padStart(7, '0')}`;
}

/** The channel on which crier's worker publishes. All contenders subscribe to it. */
export function auctionChannel(prefix: string, auctionId: number): string {
  return channelName(prefix, AUCTION_TOPIC, [{ path: 'auction.auction_id', value: String(auctionId) }]);
}

/** Creates the messages of an auction's channel. They differ only in `auction.version`, which rises and keeps its length. */
export function auctionMessages(auctionId: number): (event: number) => string {
  const { auction } = new SnakeCase().convertObjToSnakeKeys({ auction: recordedAuction() }) as { auction: object };
  return numbered({ auction: { ...auction, auction_id: auctionId, version: FIRST_VERSION } });
}

/** Creates the same messages as camelCase records of the topic. */
export function auctionRecords(auctionId: number): (event: number) => string {
  return numbered({ auction: { ...recordedAuction(), auctionId, version: FIRST_VERSION } });
}

function recordedAuction(): object {
  return (JSON.parse(readFileSync('loadtest/records/auction.json', 'utf8')) as { auction: object }).auction;
}

function numbered(message: object): (event: number) => string {
  const [before, after] = JSON.stringify(message).split(String(FIRST_VERSION)) as [string, string];
  return (event) => `${before}${FIRST_VERSION + event}${after}`;
}
