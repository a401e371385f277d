/** What stands in the built index.html where a response's nonce goes. */
export const noncePlaceholder = '__CSP_NONCE__';

/**
 * The content rules of the desk with the nonce of one response (`design.md` §4): nothing but its own files, no inline
 * script, no inline style without the nonce, no frame, no form, no other host.
 */
export function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

/** The page with the nonce of its response in place of the placeholder. */
export function withNonce(html: string, nonce: string): string {
  return html.replaceAll(noncePlaceholder, nonce);
}
