import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { replyForms } from '../../../src/gateway/http/reply-forms.ts';

const JSON_TYPE = 'application/json';
const RESPONSE = 'application/graphql-response+json';
const MULTIPART = 'multipart/mixed;subscriptionSpec=1.0';

/** What is accepted, then: JSON, stream, and the form of a result and of a refusal. */
const ROWS: readonly (readonly [string | undefined, string])[] = [
  [undefined, `${JSON_TYPE} - json json`],
  ['', `${JSON_TYPE} - json json`],
  ['*/*', `${JSON_TYPE} - json json`],
  ['application/*', `${JSON_TYPE} - json json`],
  [RESPONSE, `${RESPONSE} - json json`],
  [`${RESPONSE}, ${JSON_TYPE};q=0.9`, `${RESPONSE} - json json`],
  [`${RESPONSE};q=0.4, ${JSON_TYPE}`, `${JSON_TYPE} - json json`],
  [`${RESPONSE};q=0, */*`, `${JSON_TYPE} - json json`],
  ['Application/JSON; Charset="UTF-8"', `${JSON_TYPE} - json json`],
  // Of subscriptions' streams.
  ['text/event-stream', '- sse stream stream'],
  ['text/*', '- sse stream stream'],
  [MULTIPART, '- multipart stream stream'],
  ['MULTIPART/Mixed ; SubscriptionSpec="1.0"', '- multipart stream stream'],
  ['multipart/mixed;boundary="a,b";subscriptionSpec=1.0', '- multipart stream stream'],
  ['multipart/mixed;boundary=graphql;subscriptionSpec=1.0', '- multipart_graphql stream stream'],
  [`multipart/mixed;deferSpec=20220824, ${JSON_TYPE}`, `${JSON_TYPE} - json json`],
  ['multipart/mixed;subscriptionSpec=2.0, */*', `${JSON_TYPE} - json json`],
  // Of both, as Apollo Client, urql, and clients that rate them send.
  [
    `multipart/mixed;boundary=graphql;subscriptionSpec=1.0,${RESPONSE},${JSON_TYPE};q=0.9`,
    `${RESPONSE} multipart_graphql json stream`,
  ],
  [`${RESPONSE}, ${JSON_TYPE}, text/event-stream, multipart/mixed`, `${RESPONSE} sse json json`],
  [`${JSON_TYPE};q=0.5, ${MULTIPART}`, `${JSON_TYPE} multipart stream stream`],
  [`text/event-stream;q=0.1, ${MULTIPART};q=0.2, */*;q=0.3`, `${JSON_TYPE} multipart json json`],
  [`${JSON_TYPE}, text/event-stream;q=0`, `${JSON_TYPE} - json json`],
  [`${JSON_TYPE};q=high, text/event-stream`, `${JSON_TYPE} sse json json`],
  // Of nothing that there is.
  ['text/csv, image/png', 'none'],
  [`${JSON_TYPE};q=0`, 'none'],
  ['application/json;charset=iso-8859-1', 'none'],
  ['multipart/mixed', 'none'],
  ['multipart/*', 'none'],
];

describe('the forms of a reply', () => {
  for (const [accept, expected] of ROWS)
    it(`for "accept: ${accept}": ${expected}`, () => {
      const forms = replyForms(accept);
      const { json = '-', stream = '-', result, refusal } = forms ?? {};
      assert.equal(forms ? `${json} ${stream} ${result} ${refusal}` : 'none', expected);
    });

  const callbacks: Readonly<Record<string, boolean>> = {
    'application/json;callbackSpec=1.0': true,
    // As Hive Gateway sends it.
    'application/json;callbackSpec=1.0; charset=utf-8': true,
    // As Apollo Router sends it.
    'application/json, application/graphql-response+json, application/json;callbackSpec=1.0': true,
    'text/event-stream, application/json;callbackspec="1.0"': true,
    'application/json;callbackSpec=2.0': false,
    'application/json, application/json;callbackSpec=1.0;q=0': false,
    'application/json': false,
  };
  for (const [accept, isCallback] of Object.entries(callbacks))
    it(`takes "accept: ${accept}" as that of a router with a callback: ${isCallback}`, () => {
      assert.equal(replyForms(accept)?.isCallback, isCallback);
    });

  it('looks at the first ranges only', () => {
    const forms = replyForms(`${'a/b,'.repeat(31)}application/json,text/event-stream`);
    assert.deepEqual([forms?.json, forms?.stream], ['application/json', undefined]);
  });
});
