import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type DataLoader from 'dataloader';
import { execute, getNamedType, isObjectType, parse, validate } from 'graphql';
import type { GraphQLObjectType, GraphQLSchema } from 'graphql';
import lodash from 'lodash';
import { createFacts, createRequest } from '../../../src/graph/context/connection-facts.ts';
import { createContext, readsOf } from '../../../src/graph/context/context.ts';
import type { ExecutionContext } from '../../../src/graph/context/context.ts';
import type { BackendPort } from '../../../src/graph/context/execution-backends.ts';
import type { SampleRecord } from '../../../src/graph/graph-parts.ts';
import type { AuctionContext } from '../../../examples/auction/context.ts';
import { createDice } from '../../../examples/auction/dice.ts';
import * as resolvers from '../../../examples/auction/resolvers.ts';
import { operation, records } from '../../../examples/auction/samples.ts';
import { replyOf } from '../../graph/context/reply-of.ts';
import { auctionBackends, auctionSchema, everyField, innermost, payloadOf } from './auction-graph.ts';

const facts = createFacts(createRequest({ id: 'c1', rawHeaders: [], params: null, address: '127.0.0.1' }), {});

function first(count: number, seed = 1): SampleRecord[] {
  const generator = records(seed);
  return Array.from({ length: count }, () => generator.next().value);
}

/** The @kafka of a field, read from its SDL. */
function bindingOf(field: ReturnType<GraphQLObjectType['getFields']>[string]) {
  const values = Object.fromEntries(
    field.astNode!.directives![0]!.arguments!.map(({ name, value }) => [name.value, value]),
  );
  const text = (node: unknown) => (node as { value: string }).value;
  const matches = (values['match'] as unknown as { values: { fields: { value: unknown }[] }[] }).values;
  return {
    topic: text(values['topic']),
    payload: text(values['payload']),
    paths: matches.map(({ fields }) => text(fields[1]!.value)),
  };
}

describe('the auction graph', () => {
  it('is a valid schema with five subscription fields over three topics', async () => {
    const fields = Object.values((await auctionSchema()).getSubscriptionType()!.getFields());
    assert.equal(fields.length, 5);
    assert.equal(new Set(fields.map((field) => bindingOf(field).topic)).size, 3);
  });

  it('has samples for every subscription field within the first 200 records', async () => {
    const schema = await auctionSchema();
    for (const field of Object.values(schema.getSubscriptionType()!.getFields())) {
      const { topic, payload, paths } = bindingOf(field);
      const matching = first(200)
        .filter((record) => record.topic === topic)
        .map((record) => payloadOf(record) as object)
        .filter((body) => [payload, ...paths].every((path) => lodash.get(body, path) != null));
      assert.ok(matching.length > 5, `${field.name}: ${matching.length}`);
    }
  });

  it('resolves every field of every sample without an error or a null in a non-null field', async (t) => {
    const schema = await auctionSchema();
    const { definition, port, sent } = await auctionBackends(t);
    for (const field of Object.values(schema.getSubscriptionType()!.getFields())) {
      const { topic, payload } = bindingOf(field);
      const type = innermost(field.type) as GraphQLObjectType;
      const document = parse(`subscription { ${field.name}${argumentsOf(field)} ${everyField(type)} }`);
      assert.deepEqual(validate(schema, document), []);
      const samples = first(200).filter((record) => record.topic === topic);
      for (const record of samples.slice(0, 6)) {
        const rootValue = { [field.name]: lodash.get(payloadOf(record), payload) as unknown };
        const contextValue = createContext(definition, port, facts);
        const result = await execute({ schema, document, rootValue, contextValue });
        assert.equal(result.errors, undefined);
        assert.ok(result.data![field.name]);
      }
    }
    const asked = new Set(sent.map(({ name, request }) => `${name} ${request.path}`));
    assert.equal(asked.size, 50, 'every loader is in use');
  });

  it('resolves queries by id, and null for an unknown id', async (t) => {
    const schema = await auctionSchema();
    const { definition, port } = await auctionBackends(t);
    const document = parse(`{
      auction(auction_id: 3005178) { auction_id auction_status event { event_code name } listing { headline } }
      listing(listing_id: "L-3005178") { listing_id property { city market { name } } similar_listings { listing_id } }
      gone: listing(listing_id: "constructor") { listing_id }
    }`);
    const result = await execute({ schema, document, contextValue: createContext(definition, port, facts) });
    assert.equal(result.errors, undefined);
    const { auction, listing, gone } = result.data as Record<string, Record<string, unknown>>;
    assert.equal(auction!['auction_id'], 3005178);
    assert.equal(listing!['listing_id'], 'L-3005178');
    assert.equal((listing!['similar_listings'] as unknown[]).length, 3);
    assert.equal(gone, null);
  });

  it('calls a backend once per loader and execution, however many keys are loaded', async (t) => {
    const schema = await auctionSchema();
    const { definition, port, sent } = await auctionBackends(t);
    const ids = [3005178, 3005179, 3005180, 3005181];
    const selection =
      '{ seller { name } venue { name } recent_bids { bidder { party { kind } } } listing { auction { version } } }';
    const document = parse(`{ ${ids.map((id) => `a${id}: auction(auction_id: ${id}) ${selection}`).join(' ')} }`);
    const result = await execute({ schema, document, contextValue: createContext(definition, port, facts) });
    assert.equal(result.errors, undefined);
    assert.deepEqual(
      sent.map(({ name, request }) => `${name} ${request.path}`).sort(),
      [
        'auction /auctions/batch',
        'listing /listings/batch',
        'onlineAuction /recent-bids/batch',
        'partysearch /parties/batch',
        'seller /sellers/batch',
        'venue /venues/batch',
      ],
      'bidders came with their bids, and auctions were known on the way back: primed',
    );
    assert.equal(sent[0]!.request.body, JSON.stringify({ ids }));
  });

  it('caches nothing across executions', async (t) => {
    const schema = await auctionSchema();
    const { definition, port, sent } = await auctionBackends(t);
    const document = parse('{ auction(auction_id: 3005178) { version } }');
    for (let i = 0; i < 2; i++) {
      await execute({ schema, document, contextValue: createContext(definition, port, facts) });
    }
    assert.equal(sent.length, 2);
  });

  it('calls no backend for unused loaders, and reads no fact of the connection', async (t) => {
    const { definition, port, sent } = await auctionBackends(t);
    const context = createContext(definition, port, facts);
    const loaders = context.loaders as ReturnType<typeof definition.createLoaders>;
    assert.equal(Object.keys(loaders).length, 51);
    assert.equal(Object.keys(loaders.primers).length, 50);
    assert.ok('venue' in loaders.primers);
    assert.ok('venue_by_id' in loaders);
    assert.equal(sent.length, 0);
    assert.equal(loaders.venue_by_id, loaders.venue_by_id);
    await loaders.venue_by_id.load('V-1');
    assert.equal(sent.length, 1);
    assert.equal(readsOf(context), undefined);
  });

  it('reads each of its 50 loaders and 50 primers in the execution of a field', async (t) => {
    const schema = await auctionSchema();
    const { definition, port } = await auctionBackends(t);
    const read = new Set<string>();
    const createLoaders = (context: ExecutionContext) => recorded(definition.createLoaders(context), read);
    const readers = new Map<string, string[]>();
    for (const [typeName, fields] of Object.entries(resolvers)) {
      for (const name of Object.keys(fields)) {
        const document = parse(PATHS[typeName]!(selectionOf(schema, typeName, name)));
        assert.deepEqual(validate(schema, document), []);
        read.clear();
        const result = await execute({
          schema,
          document,
          contextValue: createContext({ ...definition, createLoaders }, port, facts),
        });
        assert.equal(result.errors, undefined);
        for (const key of read) readers.set(key, [...(readers.get(key) ?? []), `${typeName}.${name}`]);
      }
    }
    const { loaders } = createContext(definition, port, facts) as AuctionContext;
    const primers = Object.keys(loaders.primers).map((name) => `primers.${name}`);
    assert.deepEqual([...readers.keys()].sort(), [...Object.keys(loaders), ...primers].sort());
  });

  it('calls one backend for a dossier and the fields that its parts answer', async (t) => {
    const schema = await auctionSchema();
    for (const [noun, { query, id, selection }] of Object.entries(DOSSIERS)) {
      const { definition, port, sent } = await auctionBackends(t);
      const run = (field: string) => {
        const contextValue = createContext(definition, port, facts);
        return execute({ schema, document: parse(`{ it: ${field}(${id}) ${selection} }`), contextValue });
      };
      const dossier = await run(`${noun}_dossier`);
      assert.equal(dossier.errors, undefined);
      assert.deepEqual(
        sent.map(({ name, request }) => `${name} ${request.method}`),
        ['trinity GET'],
        noun,
      );
      if (query) assert.deepEqual(dossier, await run(query), 'the parts are those of their own backends');
    }
  });

  it('calls the backend of a part that a dossier omits, and none for a part that is null', async (t) => {
    const schema = await auctionSchema();
    const { definition, port, sent } = await auctionBackends(t);
    const partial: BackendPort = {
      send: async (name, request) => {
        const reply = await port.send(name, request);
        if (name !== 'trinity') return reply;
        const { contract, fees, ...others } = reply.body as Record<string, unknown>;
        assert.ok(contract && fees);
        return replyOf({ ...others, venue: null, watch: null, tasks: null });
      },
    };
    const document = parse(
      '{ auction_dossier(auction_id: 3005180) { contract { closing_days } fees { amount } venue { name } is_watched tasks { title } } }',
    );
    const result = await execute({ schema, document, contextValue: createContext(definition, partial, facts) });
    assert.equal(result.errors, undefined);
    const { contract, fees, ...others } = result.data!['auction_dossier'] as Record<string, unknown>;
    assert.ok(contract);
    assert.equal((fees as unknown[]).length, 2);
    assert.deepEqual({ ...others }, { venue: null, is_watched: false, tasks: [] });
    assert.deepEqual(
      sent.map(({ name, request }) => `${name} ${request.path}`),
      ['trinity /dossiers/auction/3005180', 'contract /contracts/batch', 'payment /fees/batch'],
    );
  });

  it('resolves a dossier without a known id to null', async (t) => {
    const schema = await auctionSchema();
    const { definition, port } = await auctionBackends(t);
    const document = parse('{ listing_dossier(listing_id: "constructor") { listing_id } }');
    const result = await execute({ schema, document, contextValue: createContext(definition, port, facts) });
    assert.deepEqual({ ...result.data }, { listing_dossier: null });
    assert.equal(result.errors, undefined);
  });

  it('names 32 backends, six of them without a loader', async (t) => {
    const { definition, port, sent } = await auctionBackends(t);
    assert.equal(new Set(definition.backends).size, 32);
    const { loaders } = createContext(definition, port, facts) as AuctionContext;
    const names = Object.keys(loaders).filter((name) => name !== 'primers') as Exclude<
      keyof typeof loaders,
      'primers'
    >[];
    await Promise.all(names.map((name) => (loaders[name] as DataLoader<string, unknown>).load('1')));
    const withLoader = new Set(sent.map(({ name }) => name));
    assert.deepEqual(
      definition.backends.filter((name) => !withLoader.has(name)),
      ['audit', 'intakeStandardization', 'notify', 'poke', 'trinity', 'uaa'],
    );
  });
});

describe('the auction samples', () => {
  it('are equal for equal seeds and differ for different seeds', () => {
    assert.deepEqual(first(500), first(500));
    assert.notDeepEqual(first(500, 2), first(500));
  });

  it('have a realistic size', () => {
    for (const { value } of first(500)) {
      const bytes = Buffer.byteLength(JSON.stringify(value));
      assert.ok(bytes >= 400 && bytes <= 2048, `${bytes} bytes`);
    }
  });

  it('match the sample operation at least every second record', async () => {
    assert.deepEqual(validate(await auctionSchema(), parse(operation)), []);
    const hotId = Number(/auction_id: (\d+)/.exec(operation)![1]);
    const isHot = first(1000).map(({ topic, value }) => {
      return topic === 'auction-events' && lodash.get(value, 'auction.auctionId') === hotId;
    });
    for (let i = 2; i < isHot.length; i++) assert.ok(isHot[i] || isHot[i - 1]);
  });

  it('are consistent: bids rise and are counted, and the auction’s record agrees with them', () => {
    const bids = new Map<unknown, { sequence: number; amount: number | null; bidderId: string | null }>();
    const versions = new Map<unknown, number>();
    const statuses = new Map<unknown, unknown>();
    const seen = new Set<unknown>();
    let lastTime = '';
    for (const { topic, value } of first(20_000)) {
      const [body] = Object.values(value as Record<string, Fields>);
      const { auctionId, listingId, version, sequence, amount, bidderId } = body as Fields & Story;
      const time = (body!['updatedDate'] ?? body!['placedAt'] ?? body!['changedAt']) as string;
      assert.ok(time > lastTime);
      lastTime = time;
      const last = bids.get(auctionId) ?? { sequence: 0, amount: null, bidderId: null };
      if (topic === 'listing-events') {
        assert.equal(body!['previousStatus'], statuses.get(listingId) ?? null);
        statuses.set(listingId, body!['listingStatus']);
      } else if (topic === 'bid-events') {
        assert.equal(sequence, last.sequence + 1);
        assert.equal(body!['previousAmount'], last.amount);
        assert.ok(amount > (last.amount ?? 0));
        assert.notEqual(bidderId, last.bidderId);
        bids.set(auctionId, { sequence, amount, bidderId });
      } else {
        assert.equal(version, (versions.get(auctionId) ?? 0) + 1);
        versions.set(auctionId, version);
        assert.equal(body!['bidCount'], last.sequence);
        assert.equal(body!['currentBid'], last.amount);
        assert.equal(body!['highBidderId'], last.bidderId);
        seen.add(body!['auctionStatus']);
      }
    }
    assert.deepEqual([...seen].sort(), ['OPEN', 'RESERVE_NOT_MET', 'SCHEDULED', 'SOLD']);
    assert.ok(versions.size > 50, 'auctions that close make room for new ones');
  });

  it('roll dice evenly', () => {
    const dice = createDice(7);
    const counts = [0, 0, 0, 0, 0, 0];
    for (let i = 0; i < 60_000; i++) counts[dice.between(0, 5)]!++;
    for (const count of counts) assert.ok(count > 9500 && count < 10_500, String(counts));
  });
});

/** A document that reaches an object of each type, by the selection on it. */
const PATHS: Readonly<Record<string, (selection: string) => string>> = {
  Query: (selection) => `{ ${selection} }`,
  Auction: (selection) => `{ auction(auction_id: 3005180) { ${selection} } }`,
  AuctionEvent: (selection) => `{ auction(auction_id: 3005180) { event { ${selection} } } }`,
  Bid: (selection) => `{ auction(auction_id: 3005180) { recent_bids { ${selection} } } }`,
  Bidder: (selection) => `{ bidder_dossier(bidder_id: "B-7") { ${selection} } }`,
  Listing: (selection) => `{ listing(listing_id: "L-3005180") { ${selection} } }`,
  Property: (selection) => `{ listing(listing_id: "L-3005180") { property { ${selection} } } }`,
  Seller: (selection) => `{ listing(listing_id: "L-3005180") { seller { ${selection} } } }`,
};

/** By noun: the field that calls each part's own backend, and a selection that the parts answer. */
const DOSSIERS: Readonly<Record<string, { query?: string; id: string; selection: string }>> = {
  auction: {
    query: 'auction',
    id: 'auction_id: 3005180',
    selection: `{
      auction_id current_bid attendance { online_count } auctioneer { name } changes { summary } contract { contract_number }
      deposit { amount } escrow { company } event { name auction_ids calendar { opens_at } } fees { amount } is_watched
      recent_bids { amount } tasks { title } venue { name }
    }`,
  },
  bidder: {
    id: 'bidder_id: "B-7"',
    selection: '{ display_name account { is_verified } agent { name } party { kind } }',
  },
  listing: {
    query: 'listing',
    id: 'listing_id: "L-3005180"',
    selection: `{
      headline latest_auction { auction_id } comments { text } documents { title } favourites { favourite_count }
      financing { lender } flags intake { channel } offers { offer_count } open_houses { host } prices { list_price }
      questions { question } views { view_count }
    }`,
  },
  property: {
    id: 'property_id: "P-3005180"',
    selection: `{
      street appraisal { amount } county { name } inspection { vendor_name } loan { balance } location { latitude }
      market { name } media { path } occupancy { occupancy_status } parcel { parcel_number }
      potential_return { monthly_rent } tax { amount } valuation { estimate }
    }`,
  },
  seller: { id: 'seller_id: "S-7"', selection: '{ name account_manager { name } score { sold_percent } }' },
};

/** One field with its required arguments, and `__typename` of its object. */
function selectionOf(schema: GraphQLSchema, typeName: string, name: string): string {
  const field = (schema.getType(typeName) as GraphQLObjectType).getFields()[name]!;
  return `${name}${argumentsOf(field)}${isObjectType(getNamedType(field.type)) ? ' { __typename }' : ''}`;
}

/** A view of an object, and of its `primers`, that adds each key that is read to `read`. */
function recorded<T extends object>(object: T, read: Set<string>, prefix = ''): T {
  return new Proxy(object, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key);
      read.add(prefix + String(key));
      return key === 'primers' ? recorded(value as object, read, 'primers.') : value;
    },
  });
}

type Fields = Readonly<Record<string, unknown>>;

interface Story {
  readonly version: number;
  readonly sequence: number;
  readonly amount: number;
  readonly bidderId: string;
}

/** Some value for each required argument. */
function argumentsOf(field: ReturnType<GraphQLObjectType['getFields']>[string]): string {
  const required = field.args.filter(({ type }) => String(type).endsWith('!'));
  if (required.length === 0) return '';
  return `(${required.map(({ name, type }) => `${name}: ${String(type) === 'Int!' ? 1 : '"L-1"'}`).join(', ')})`;
}
