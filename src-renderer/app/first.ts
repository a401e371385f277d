/**
 * What has to happen before any other module of the desk runs: zod would probe `eval` when the first schema is made,
 * and libraries that add a style element ask for the nonce, both of which the page's content rules forbid otherwise.
 */
import { setNonce } from 'get-nonce';
import { z } from 'zod';

/** The nonce that the server wrote into the page for style elements; empty when there is none. */
export function styleNonce(): string {
  return document.querySelector('meta[name="csp-nonce"]')?.getAttribute('content') ?? '';
}

z.config({ jitless: true });
setNonce(styleNonce());
