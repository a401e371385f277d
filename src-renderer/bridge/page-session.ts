import { z } from 'zod';

/** Where a page keeps its session: sessionStorage in the browser, a map in a test. */
export type SessionStore = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

const tokenKey = 'memory-git.owner-session';
const sessionAnswerSchema = z.object({ token: z.string().min(1) });

/** The one-time code in a fragment such as `#code=…`, or undefined. */
export function codeInHash(hash: string): string | undefined {
  return new URLSearchParams(hash.replace(/^#\/?\??/, '')).get('code') ?? undefined;
}

export interface PageSession {
  readonly token: () => string | undefined;
  readonly forget: () => void;
  /** Exchanges a one-time code for a session; false when the code was used, expired or wrong. Rejects when nobody answers. */
  readonly signIn: (code: string) => Promise<boolean>;
}

/** The owner page's session: a token that lives as long as the tab, sent as a header, never a cookie. */
export function createPageSession(store: SessionStore, fetchFn: typeof fetch): PageSession {
  return {
    token: () => store.getItem(tokenKey) ?? undefined,
    forget: () => store.removeItem(tokenKey),
    async signIn(code) {
      const response = await fetchFn('/owner/session', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code }),
      });
      const answer = sessionAnswerSchema.safeParse(await response.json().catch(() => undefined));
      if (!response.ok || !answer.success) return false;
      store.setItem(tokenKey, answer.data.token);
      return true;
    },
  };
}
