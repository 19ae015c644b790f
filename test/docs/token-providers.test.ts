import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { SignJWT, jwtVerify } from 'jose';
import { ASYMMETRIC } from '../../src/config/algorithms.ts';
import { readConfig } from '../../src/config/config.ts';
import { parseRequiredClaim } from '../../src/config/required-claims.ts';
import { TokenVerifier } from '../../src/gateway/identity/token-verifier.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Claims as each provider documents them, and what tells the tokens that must be refused. */
const SHAPES: Readonly<Record<string, { accepted: object; refused: Readonly<Record<string, object>> }>> = {
  Auth0: {
    accepted: {
      aud: ['https://api.example.com', 'https://example.eu.auth0.com/userinfo'],
      azp: 'app1',
      scope: 'openid',
    },
    refused: { 'of another API': { aud: 'https://other.example.com' }, 'an id token': { aud: 'app1' } },
  },
  Clerk: {
    accepted: { azp: 'https://app.example.com', sid: 'sess_1', v: 2 },
    refused: { 'of another page': { azp: 'https://other.example.com' }, 'without a page': { azp: undefined } },
  },
  Cognito: {
    accepted: { client_id: 'app1', token_use: 'access', scope: 'orders/read', username: 'ida' },
    refused: {
      'of another app': { client_id: 'app3' },
      'an id token': { client_id: undefined, aud: 'app1', token_use: 'id' },
    },
  },
  'Entra ID': {
    accepted: { aud: '66666666-7777-8888-9999-000000000000', scp: 'orders.read profile', ver: '2.0', azp: 'app1' },
    refused: { 'of another API': { aud: 'other' }, 'of another scope': { scp: 'profile' } },
  },
  Firebase: {
    accepted: { aud: 'example-project', user_id: 'ida', firebase: { sign_in_provider: 'password' } },
    refused: { 'of another project': { aud: 'other-project' } },
  },
  Keycloak: {
    accepted: { aud: 'account', azp: 'web', typ: 'Bearer', realm_access: { roles: ['user'] } },
    refused: { 'of another client': { azp: 'admin-cli' }, 'an id token': { typ: 'ID', aud: 'web' } },
  },
};

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** The settings of each provider, by its name in the comment above them. */
async function providers(): Promise<Map<string, Record<string, string>>> {
  const page = await readFile('docs/operate/tokens.md', 'utf8');
  const [, block] = /### Settings for a provider[^]*?```sh\n([^]*?)```/.exec(page)!;
  return new Map(
    block!.split('\n\n').map((text) => {
      const [comment, ...lines] = text.trim().split('\n');
      return [/^# ([\w ]+\w)/.exec(comment!)![1]!, Object.fromEntries(lines.map(settingOf))];
    }),
  );
}

/** The name and value of a line that a shell takes as it stands: in quotes, or without a character that means something to it. */
function settingOf(line: string): [name: string, value: string] {
  const [, name, quoted, plain] = /^export (\w+)=(?:'([^']+)'|([\w:/.,=@-]+))$/.exec(line)!;
  return [name!, quoted ?? plain!];
}

describe('the settings for a provider', () => {
  let settingsOf: Map<string, Record<string, string>>;
  before(async () => (settingsOf = await providers()));

  it('are on the page for each provider', () => assert.deepEqual([...settingsOf.keys()], Object.keys(SHAPES)));

  for (const [provider, { accepted, refused }] of Object.entries(SHAPES)) {
    const verify = async (claims: object) => {
      const config = readConfig(settingsOf.get(provider)!);
      const verifier = new TokenVerifier({
        issuers: [
          { names: config.JWT_ISSUER, key: createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })) },
        ],
        audiences: config.JWT_AUDIENCE,
        requiredClaims: config.JWT_REQUIRE.map((entry) => parseRequiredClaim(entry)!),
        algorithms: ASYMMETRIC,
        clockToleranceMs: 0,
      });
      const token = new SignJWT({ iss: config.JWT_ISSUER[0]!, sub: 'ida', ...accepted, ...claims });
      return verifier.verify(await token.setProtectedHeader({ alg: 'RS256' }).setExpirationTime('5m').sign(privateKey));
    };

    it(`of ${provider} accept a token of its shape`, async () => void (await verify({})));

    for (const [what, claims] of Object.entries(refused))
      it(`of ${provider} refuse a token ${what}`, () => assert.rejects(verify(claims), { refusal: 'token_invalid' }));
  }
});

describe('the command that makes a token without a provider', () => {
  it('signs one that the secret verifies, for a quarter of an hour', async (t) => {
    const [command] = /^TOKEN=\$\(node .*\)$/m.exec(await readFile('docs/operate/tokens.md', 'utf8'))!;
    const file = join(await temporaryFolder(t), 'secret');
    await writeFile(file, `${'s'.repeat(64)}\n`);
    const text = `${command.replace('/tmp/jwt-secret', file)}\nprintf %s "$TOKEN"`;
    const { stdout } = await promisify(execFile)('sh', ['-c', text]);
    const { payload } = await jwtVerify(stdout, Buffer.from('s'.repeat(64)), { algorithms: ['HS256'] });
    assert.equal(payload.sub, 'ida');
    assert.ok(payload.exp! - Date.now() / 1000 <= 901);
  });
});
