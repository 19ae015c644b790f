import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT, exportJWK, generateKeyPair } from 'jose';
import type { CryptoKey, JWK, JWTPayload } from 'jose';

export const ISSUER = 'https://issuer.test';
export const AUDIENCE = 'crier';

/** How long a token of `sign` lives, in seconds. */
const LIFE_SECONDS = 3600;

interface KeyPair {
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

/** Key pairs of closed providers, which later ones use again: a key of RSA takes 0.2 s of CPU. Providers of one time have none in common. */
const spares: KeyPair[] = [];

async function keyPair(): Promise<KeyPair> {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), alg: 'RS256', use: 'sig' } };
}

/** An identity provider on loopback: a key set (JWKS) whose keys may rotate, and tokens that they sign. */
export class IdentityProvider {
  readonly url: string;
  readonly #pairs: KeyPair[] = [];
  /** How many of its first pairs are no longer in the set. */
  #withdrawn = 0;
  readonly #close: () => Promise<void>;
  /** Requests for the key set. */
  fetches = 0;
  /** How a request is answered. Default: with the keys. */
  answer: (response: ServerResponse, keys: { keys: JWK[] }) => void = (response, keys) =>
    void response.setHeader('content-type', 'application/json').end(JSON.stringify(keys));

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  /** With one key. */
  static async start(t: { after(fn: () => Promise<void>): void }): Promise<IdentityProvider> {
    const server = createServer((_request, response) => {
      provider.fetches++;
      provider.answer(response, { keys: provider.#pairs.slice(provider.#withdrawn).map(({ jwk }) => jwk) });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const provider = new IdentityProvider(`http://127.0.0.1:${port}/jwks`, async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      spares.push(...provider.#pairs);
    });
    t.after(() => provider.#close());
    await provider.rotate();
    return provider;
  }

  /** Adds a key, which signs from now on. The earlier ones stay in the set. */
  async rotate(): Promise<void> {
    const { privateKey, jwk } = spares.pop() ?? (await keyPair());
    this.#pairs.push({ privateKey, jwk: { ...jwk, kid: `key-${this.#pairs.length + 1}` } });
  }

  /** Removes all keys but the last. */
  withdraw(): void {
    this.#withdrawn = this.#pairs.length - 1;
  }

  /**
   * A token signed by the last key.
   * @param claims beside `iss`, `aud`, `iat` and `exp`, or instead of them; undefined leaves one out
   */
  sign(claims: JWTPayload = {}, header: { kid?: string } = {}): Promise<string> {
    const { privateKey, jwk } = this.#pairs.at(-1)!;
    return signWith(privateKey, claims, { alg: 'RS256', kid: jwk.kid!, ...header });
  }
}

/** A token of the provider's issuer and audience that another key has signed. */
export function signWith(
  key: CryptoKey | Uint8Array,
  claims: JWTPayload,
  header: { alg: string; kid?: string },
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const payload = { iss: ISSUER, aud: AUDIENCE, sub: 'ida', iat: now, exp: now + LIFE_SECONDS, ...claims };
  return new SignJWT(payload).setProtectedHeader(header).sign(key);
}

/** `seconds` from now, as a token has times. */
export function fromNow(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}
