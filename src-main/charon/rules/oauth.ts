import { z } from 'zod';
import { principalIdSchema } from '../../../src-preload/contract/ids.ts';
import { dayMs } from '../../../src-preload/contract/limits.ts';
import { oauthGrantIdSchema } from '../../../src-preload/contract/oauth.ts';
import type { Scope } from '../../../src-preload/contract/principal.ts';
import { hmacSha256Compact, isS256Of, verifyHmacSha256Compact } from '../../canonical/compact-mac.ts';

/** How long a program waits for the owner, a code for its exchange, and an access lasts (`charon.md` §2). Milliseconds. */
export const oauthRequestLifeMs = 600_000;
export const oauthCodeLifeMs = 60_000;
export const oauthAccessLifeMs = dayMs;

const neverByOauth: ReadonlySet<Scope> = new Set(['memory.review', 'memory.merge', 'memory.write']);

/** Of the scopes that a profile has, those that travel over OAuth: never review, merge and trusted writes. */
export function scopesByOauth(held: readonly Scope[]): readonly Scope[] {
  return held.filter((scope) => !neverByOauth.has(scope));
}

const redirectsMax = 5;
const redirectCharactersMax = 300;
const nameCharactersMax = 80;

const loopbackHosts: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Where a browser may be sent back to: a program on this machine, or a page over HTTPS; never with a fragment or a password. */
export function isRedirectUri(text: string): boolean {
  if (text.length > redirectCharactersMax || !URL.canParse(text)) return false;
  const { protocol, hostname, hash, username, password } = new URL(text);
  if (hash !== '' || text.includes('#') || username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && loopbackHosts.has(hostname));
}

/** A registered program. It is kept nowhere: its id says all of it, under our MAC. */
const clientSchema = z.strictObject({
  name: z.string().min(1).max(nameCharactersMax),
  redirects: z.array(z.string().refine(isRedirectUri)).min(1).max(redirectsMax),
});
export type OauthClient = z.infer<typeof clientSchema>;

/** A name as it may be shown: no characters that hide, reorder or colour. */
export function shownName(name: string): string {
  const plain = [...name.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')].slice(0, nameCharactersMax).join('').trim();
  return plain === '' ? 'a program without a name' : plain;
}

/** The program as it may be registered, or undefined when its redirects cannot be used. */
export function readClient(client: {
  readonly name: string;
  readonly redirects: readonly string[];
}): OauthClient | undefined {
  return clientSchema.safeParse({ name: shownName(client.name), redirects: client.redirects }).data;
}

/** The id of a program: what it is, and a MAC over that. */
export function formatClientId(key: Buffer, client: OauthClient): string {
  const body = Buffer.from(JSON.stringify(client), 'utf8').toString('base64url');
  return `${body}.${hmacSha256Compact(key, `client\n${body}`)}`;
}

/** The program of an id that this home gave out, else undefined. */
export function parseClientId(key: Buffer, clientId: string): OauthClient | undefined {
  const [body = '', signature = '', ...more] = clientId.split('.');
  if (more.length > 0 || !verifyHmacSha256Compact(key, `client\n${body}`, signature)) return undefined;
  return clientSchema.safeParse(jsonOf(body)).data;
}

/** A code verifier against its S256 challenge (RFC 7636 §4.6). */
export function provesChallenge(verifier: string, challenge: string): boolean {
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false;
  return isS256Of(verifier, challenge);
}

/** True for a challenge as S256 makes it. */
export function isChallenge(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

const claimsSchema = z.strictObject({
  iss: z.string(),
  aud: z.string(),
  sub: principalIdSchema,
  jti: oauthGrantIdSchema,
  iat: z.int(),
  exp: z.int(),
});
/** What an access token says. Which rights it carries is looked up at every call. */
export type AccessClaims = z.infer<typeof claimsSchema>;

const header = Buffer.from('{"alg":"HS256","typ":"JWT"}', 'utf8').toString('base64url');

/** A JWT under HS256 (RFC 7519, RFC 7515). */
export function formatAccessToken(key: Buffer, claims: AccessClaims): string {
  const signed = `${header}.${Buffer.from(JSON.stringify(claims), 'utf8').toString('base64url')}`;
  return `${signed}.${hmacSha256Compact(key, signed)}`;
}

/** The claims of a token that this key signed, with exactly our header; undefined for every other text. Times are not looked at. */
export function parseAccessToken(key: Buffer, token: string): AccessClaims | undefined {
  const [first, body = '', signature = '', ...more] = token.split('.');
  if (first !== header || more.length > 0 || !verifyHmacSha256Compact(key, `${header}.${body}`, signature))
    return undefined;
  return claimsSchema.safeParse(jsonOf(body)).data;
}

function jsonOf(base64url: string): unknown {
  try {
    return JSON.parse(Buffer.from(base64url, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
