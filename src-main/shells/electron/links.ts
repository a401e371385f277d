import { proposalIdSchema } from '../../../src-preload/contract/ids.ts';

/** The scheme of deep links. */
export const linkScheme = 'memorygit';

const proposalLink = /^memorygit:\/\/proposal\/([0-9a-f-]{36})\/?$/;

/**
 * The place of the desk a deep link leads to: `memorygit://proposal/<id>` → `/inbox/<id>`. Anything may send such a link,
 * so it can name one proposal and do nothing else; undefined for every other text.
 */
export function parseLink(text: string): string | undefined {
  const id = proposalIdSchema.safeParse(proposalLink.exec(text)?.[1]);
  return id.success ? `/inbox/${id.data}` : undefined;
}

/** The first deep link among the arguments of a start, as a place of the desk; where the OS passes links as arguments. */
export function findLink(argv: readonly string[]): string | undefined {
  for (const argument of argv) {
    const place = parseLink(argument);
    if (place !== undefined) return place;
  }
  return undefined;
}
