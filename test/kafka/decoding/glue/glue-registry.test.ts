import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { gluePackageFile } from '../../../../src/config/glue-package.ts';
import { loadGlueClient } from '../../../../src/kafka/decoding/glue-client.ts';
import type { SchemaVersion } from '../../../../src/kafka/decoding/glue-client.ts';
import { GlueRegistry } from '../../../../src/kafka/decoding/glue-registry.ts';
import { startGlueServer } from './glue-server.ts';
import type { GlueAnswer, GlueServer } from './glue-server.ts';
import { GLUE_PROJECT, awsEnvironment, installGlueSdk } from './glue-sdk.ts';

const ID = '01234567-89ab-4def-8123-456789abcdef';
const PATH = `glue/${ID}` as const;

describe("GlueRegistry with AWS's SDK", () => {
  let server: GlueServer;
  before(async () => {
    installGlueSdk();
    server = await startGlueServer();
  });
  after(() => server.close());
  beforeEach(() => {
    server.answers.clear();
    server.asked.length = 0;
    Object.assign(process.env, awsEnvironment(server.url));
  });

  function open(timeoutMs = 3000): GlueRegistry {
    return new GlueRegistry({ load: () => loadGlueClient(gluePackageFile(GLUE_PROJECT)!), timeoutMs });
  }

  async function failure(answer?: GlueAnswer, timeoutMs?: number): Promise<string> {
    server.answers.set(ID, answer);
    const registry = open(timeoutMs);
    const error = (await registry.schema(PATH).then(
      () => assert.fail(),
      (reason: unknown) => reason,
    )) as Error;
    assert.equal((error as Error & { code: string }).code, 'ERR_SCHEMA_UNAVAILABLE');
    assert.doesNotMatch(error.message, /hunter2/);
    assert.equal(await registry.problem(), error.message);
    registry.close();
    return error.message;
  }

  it('reads a schema, which it asks for once at a time', async () => {
    server.answers.set(ID, { DataFormat: 'AVRO', SchemaDefinition: '"string"' });
    const registry = open();
    const expected = { type: 'AVRO', text: '"string"', references: [] };
    assert.deepEqual(await Promise.all([registry.schema(PATH), registry.schema(PATH)]), [expected, expected]);
    assert.deepEqual(server.asked, [ID]);
    registry.close();
    registry.close();
  });

  it('says of an id that Glue does not know, or that can be none, that there is no schema', async () => {
    assert.equal(await open().schema(PATH), undefined);
    server.answers.set(ID, { __type: 'InvalidInputException', message: 'no id' });
    assert.equal(await open().schema(PATH), undefined);
  });

  it('refuses a format that it does not know', async () => {
    server.answers.set(ID, { DataFormat: 'THRIFT', SchemaDefinition: '' });
    await assert.rejects(open().schema(PATH), { name: 'UnusableSchemaError', message: 'its format is "THRIFT"' });
  });

  it('names what is wrong and the fix, for what may be right later', async () => {
    const denied = { __type: 'AccessDeniedException', message: 'not authorized' };
    assert.equal(
      await failure(denied),
      'AWS Glue refuses the credentials of AWS (AccessDeniedException: "not authorized"); allow glue:GetSchemaVersion, or correct them',
    );
    assert.match(await failure({ __type: 'ExpiredTokenException', message: 'x' }), /refuses the credentials/);
    assert.match(
      await failure({ __type: 'ThrottlingException', message: 'slow' }),
      /answers with ThrottlingException: "slow"$/,
    );
    assert.match(await failure('<html>'), /answers like another server \(status 200\); correct AWS_ENDPOINT_URL_GLUE$/);
    assert.equal(await failure(undefined, 300), 'AWS Glue has not answered within 300 ms');
    process.env['AWS_ENDPOINT_URL_GLUE'] = 'http://127.0.0.1:1';
    assert.match(await failure(), /cannot be reached: ECONNREFUSED; correct AWS_REGION or AWS_ENDPOINT_URL_GLUE$/);
  });

  async function missing(registry: GlueRegistry): Promise<string> {
    const error = (await registry.schema(PATH).then(
      () => assert.fail(),
      (reason: unknown) => reason,
    )) as Error;
    assert.equal(error.name, 'MissingRegistryError');
    assert.equal(await registry.problem(), undefined);
    registry.close();
    return error.message;
  }

  it('says that it is not set up without a region or credentials, for which nothing waits', async () => {
    delete process.env['AWS_REGION'];
    process.env['AWS_SHARED_CREDENTIALS_FILE'] = process.env['AWS_CONFIG_FILE'] = '/dev/null';
    assert.match(await missing(open()), /is not asked: Region is missing; set AWS_REGION$/);
    process.env['AWS_REGION'] = 'eu-central-1';
    delete process.env['AWS_ACCESS_KEY_ID'];
    assert.match(
      await missing(open()),
      /is not asked: .*; give the worker credentials of AWS that allow glue:GetSchemaVersion$/,
    );
    assert.deepEqual(server.asked, []);
  });

  it('says so, too, if looking for credentials takes longer than a request may', async () => {
    let searches = 0;
    const setUp = async () => {
      searches++;
      await new Promise((resolve) => setTimeout(resolve, 600));
      throw Object.assign(new Error('none'), { name: 'CredentialsProviderError' });
    };
    const client = { setUp, schemaVersion: () => assert.fail(), close: () => undefined };
    const registry = new GlueRegistry({ load: () => client, timeoutMs: 200 });
    await assert.rejects(registry.schema(PATH), /has not answered within 200 ms/);
    await new Promise((resolve) => setTimeout(resolve, 500));
    await missing(registry);
    assert.equal(searches, 1);
  });

  it('waits for what is missing once Glue has answered', async () => {
    const answers: (() => Promise<SchemaVersion>)[] = [
      () => Promise.reject(Object.assign(new Error('no'), { name: 'EntityNotFoundException' })),
      () => Promise.reject(Object.assign(new Error('expired'), { name: 'CredentialsProviderError' })),
    ];
    const client = {
      setUp: () => Promise.resolve(),
      schemaVersion: () => answers.shift()!(),
      close: () => undefined,
    };
    const registry = new GlueRegistry({ load: () => client, timeoutMs: 1000 });
    assert.equal(await registry.schema(PATH), undefined);
    await assert.rejects(registry.schema(PATH), { code: 'ERR_SCHEMA_UNAVAILABLE', message: /is not asked: expired/ });
  });

  it('fails at once during the pause after a failure, and goes on after it', async () => {
    server.answers.set(ID, { __type: 'AccessDeniedException', message: '' });
    const registry = open();
    await assert.rejects(registry.schema(PATH), /refuses/);
    await assert.rejects(registry.schema(PATH), /refuses/);
    assert.equal(server.asked.length, 1);
    server.answers.set(ID, { DataFormat: 'JSON', SchemaDefinition: '{}' });
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal((await registry.schema(PATH))?.type, 'JSON');
    assert.equal(await registry.problem(), undefined);
  });

  it('loads the package at the first schema, again if that failed, and says how to install it again', async () => {
    const registry = new GlueRegistry({ load: () => loadGlueClient('/nowhere/index.js'), timeoutMs: 1000 });
    assert.match(await missing(registry), /client-glue cannot be loaded: .*; install it again: npm install @aws-sdk/);
  });

  it('is not asked where the package is not installed', () => {
    assert.equal(gluePackageFile('test'), undefined);
    assert.equal(gluePackageFile(''), undefined);
  });
});
