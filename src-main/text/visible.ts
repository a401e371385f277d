/** Characters that a terminal would obey, hide or reorder by: control, format (bidi, zero-width), separators, unassigned. */
const unprintable = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Text of anybody's, safe to show on one line: what is not visible is written out as `\u{…}`. */
export function escapeInvisible(text: string): string {
  return text
    .toWellFormed()
    .replace(unprintable, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** JSON text with what is not visible escaped: it is still the same JSON. */
export function escapeInvisibleJson(json: string): string {
  return json.replace(unprintable, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
