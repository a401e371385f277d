/** A stretch of text that may be shown as it is, or one character that would act unseen and is shown by its name instead. */
export type VisiblePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'mark'; readonly code: string; readonly name: string };

const names: Readonly<Record<number, string>> = {
  0: 'null',
  7: 'bell',
  8: 'backspace',
  13: 'carriage return',
  27: 'escape',
  127: 'delete',
  173: 'soft hyphen',
  1564: 'Arabic letter mark',
  6158: 'Mongolian vowel separator',
  8203: 'zero-width space',
  8204: 'zero-width non-joiner',
  8205: 'zero-width joiner',
  8206: 'left-to-right mark',
  8207: 'right-to-left mark',
  8232: 'line separator',
  8233: 'paragraph separator',
  8234: 'left-to-right embedding',
  8235: 'right-to-left embedding',
  8236: 'pop directional formatting',
  8237: 'left-to-right override',
  8238: 'right-to-left override',
  8288: 'word joiner',
  8294: 'left-to-right isolate',
  8295: 'right-to-left isolate',
  8296: 'first strong isolate',
  8297: 'pop directional isolate',
  65279: 'zero-width no-break space',
};

/** Controls, format characters, unassigned and private code points, lone surrogates, and the selectors used to smuggle text. */
const unseen = /[\p{C}\u2028\u2029\u115f\u1160\u3164\uffa0]|[\u{e0100}-\u{e01ef}]/u;
const joinable =
  /[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Sinhala}\p{Script=Malayalam}\p{Script=Kannada}\p{Script=Telugu}]/u;
const emojiBefore = /[\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f/u;

/**
 * Splits hostile text so that nothing in it can act unseen: line breaks and tabs stay, joiners stay where writing or
 * emoji need them, everything else invisible becomes a mark. Joined back together, texts and marks cover the input exactly.
 */
export function visibleParts(text: string): readonly VisiblePart[] {
  const characters = [...text];
  const parts: VisiblePart[] = [];
  let plain = '';
  characters.forEach((character, index) => {
    if (isShownAsIs(character, characters[index - 1] ?? '', characters[index + 1] ?? '')) {
      plain += character;
      return;
    }
    if (plain !== '') parts.push({ kind: 'text', text: plain });
    plain = '';
    parts.push(markFor(character));
  });
  if (plain !== '') parts.push({ kind: 'text', text: plain });
  return parts;
}

/** How many characters of the text would act unseen. */
export function countUnseen(text: string): number {
  return visibleParts(text).filter((part) => part.kind === 'mark').length;
}

/** The text on one line with marks spelled out, for titles, labels and notifications. At most `charsMax` characters. */
export function plainLine(text: string, charsMax = 160): string {
  const whole = visibleParts(text)
    .map((part) => (part.kind === 'text' ? part.text : `[${part.code}]`))
    .join('')
    .replace(/\s+/gu, ' ')
    .trim();
  const characters = [...whole];
  return characters.length > charsMax ? `${characters.slice(0, charsMax - 1).join('')}…` : whole;
}

function isShownAsIs(character: string, before: string, after: string): boolean {
  if (character === '\n' || character === '\t') return true;
  if (character === '\r') return after === '\n';
  if (character === '\u200d' && emojiBefore.test(before) && /\p{Extended_Pictographic}/u.test(after)) return true;
  if (character === '\u200d' || character === '\u200c') return joinable.test(before) && joinable.test(after);
  return !unseen.test(character);
}

function markFor(character: string): VisiblePart {
  const point = character.codePointAt(0) ?? 0;
  const code = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
  return { kind: 'mark', code, name: names[point] ?? 'unseen character' };
}
