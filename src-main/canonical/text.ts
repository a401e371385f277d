// Text as the digests and the checks of the protocol see it. JavaScript's own trim, toLowerCase and sort differ from
// what is hashed and compared on the wire (lethe.md §3), so nothing below the doors may use them for those purposes.

const WHITE_SPACE = /^\p{White_Space}$/u;

/** True when the UTF-16 code unit is Unicode White_Space (every such character lies in the basic plane). */
function isWhiteSpace(unit: string): boolean {
  return WHITE_SPACE.test(unit);
}

/**
 * Removes Unicode White_Space from both ends (lethe.md §3). Unlike `String.prototype.trim` it removes U+0085 and keeps
 * U+FEFF. Linear in the length of the text.
 */
export function trimWhiteSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isWhiteSpace(text.charAt(start))) start += 1;
  while (end > start && isWhiteSpace(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** True when nothing is left of the text after `trimWhiteSpace`: what the protocol calls blank (lethe.md §4). */
export function isBlank(text: string): boolean {
  return trimWhiteSpace(text) === '';
}

/**
 * Lower-cases rune by rune with Unicode's simple mapping (lethe.md §3): no final-sigma rule, and U+0130 becomes a plain
 * `i`. Those two are the only places where the locale-independent mapping of JavaScript differs.
 */
export function lowerSimple(text: string): string {
  return text.replaceAll('\u0130', 'i').replaceAll('\u03a3', '\u03c3').toLowerCase();
}

/** Length in bytes of the text as UTF-8, a lone surrogate counted as U+FFFD (3 bytes). All caps of §4 are in this unit. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** A code unit moved so that units compare as the code points they belong to: surrogates above U+E000 to U+FFFF. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}

/**
 * Orders two texts by the bytes of their UTF-8 form, which is the order of their code points (lethe.md §3). Both must be
 * well-formed: `encodePlain` and `encodeCanonical` make them so first. Returns a negative number, zero or a positive one.
 */
export function compareUtf8(left: string, right: string): number {
  const shared = Math.min(left.length, right.length);
  for (let index = 0; index < shared; index += 1) {
    const leftUnit = left.charCodeAt(index);
    const rightUnit = right.charCodeAt(index);
    if (leftUnit !== rightUnit) return codePointRank(leftUnit) - codePointRank(rightUnit);
  }
  return left.length - right.length;
}
