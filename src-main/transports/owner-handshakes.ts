import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import { type HandshakeNonces, isOwnerProof, ownerProof } from './owner-proof.ts';

const handshakeLifeMs = 10_000;
const pendingMax = 64;
const sessionsMax = 256;

/** The server's side of the mutual proof, and the sessions that came of it. */
export interface OwnerHandshakes {
  /** Answers a client's nonce with ours and the proof that we know the owner's key. */
  hello(clientNonce: string): { readonly server_nonce: string; readonly proof: string };
  /** Opens a session for a proof over nonces that are waiting for one. Each pair serves once, whatever is sent (T54). */
  open(nonces: HandshakeNonces, proof: string): boolean;
  isOpen(token: string): boolean;
  end(token: string): void;
}

/** The session's token is never sent by the server: both sides derive it from the key and the nonces. */
export function ownerHandshakes(options: {
  readonly ownerKey: Buffer;
  readonly clock: Clock;
  readonly ids: Ids;
}): OwnerHandshakes {
  const { ownerKey, clock, ids } = options;
  const pending = new Map<string, { readonly nonces: HandshakeNonces; readonly expiresAtMs: number }>();
  const sessions = new Set<string>();
  return {
    hello(clientNonce) {
      const nonces = { client: clientNonce, server: ids.randomBytes(16).toString('hex') };
      pending.set(nonces.server, { nonces, expiresAtMs: clock.nowMs() + handshakeLifeMs });
      const [oldest] = pending.keys();
      if (pending.size > pendingMax && oldest !== undefined) pending.delete(oldest);
      return { server_nonce: nonces.server, proof: ownerProof(ownerKey, 'server', nonces) };
    },
    open(nonces, proof) {
      const waiting = pending.get(nonces.server);
      pending.delete(nonces.server);
      if (waiting === undefined || waiting.nonces.client !== nonces.client || clock.nowMs() >= waiting.expiresAtMs)
        return false;
      if (!isOwnerProof(ownerKey, 'client', waiting.nonces, proof)) return false;
      sessions.add(ownerProof(ownerKey, 'session', waiting.nonces));
      const [oldest] = sessions;
      if (sessions.size > sessionsMax && oldest !== undefined) sessions.delete(oldest);
      return true;
    },
    isOpen: (token) => sessions.has(token),
    end: (token) => {
      sessions.delete(token);
    },
  };
}
