import { quotedBytes, resultBytes } from '../commands/result-bytes.ts';

/** What an answer holds no more, so that it fits: where, how much is left, and the rest of it as text. */
export interface Cut {
  /** A JSON pointer into the answer. */
  readonly path: string;
  /** `text`: a string was ended early. `items`: a list was. `json`: a value was left out whole, null stands for it. */
  readonly form: 'text' | 'items' | 'json';
  /** Characters or items that the answer still holds, and that there are. */
  readonly kept: number;
  readonly total: number;
  /** The rest of the text, or the JSON of the items that are left out, or of the value. */
  readonly rest: string;
}

/** An answer that fits, and what it was cut by. */
export interface CutAnswer {
  readonly shown: Readonly<Record<string, unknown>>;
  readonly cuts: readonly Cut[];
}

/** What is cut is worth this many bytes at least: less of it says nothing. */
const shareBytesMin = 1_024;
/** Kept for naming what was cut, and for the cursor to it. */
const marksBytesMax = 6_000;
const cursorBytesMax = 4_000;
const pathLengthMax = 256;

/**
 * An answer that is sent in `bytesMax` bytes at most with what names its cuts (`charon.md` §3). What is small stays whole;
 * what is large is cut to a fair share: texts and lists end early, and what has too many parts is left out. The same
 * answer is always cut alike. Pure.
 */
export function cutToFit(answer: Readonly<Record<string, unknown>>, bytesMax: number): CutAnswer {
  if (resultBytes(answer) <= bytesMax) return { shown: answer, cuts: [] };
  const sizes = new Map<object, number>();
  for (let shareMin = shareBytesMin; ; shareMin *= 2) {
    const cuts: Cut[] = [];
    const shown = cutEntries(answer, bytesMax - marksBytesMax - cursorBytesMax, '', { sizes, shareMin, cuts });
    const marks = resultBytes(cuts.map(markOf));
    if (resultBytes(shown) + marks <= bytesMax - cursorBytesMax || shareMin > bytesMax) return { shown, cuts };
  }
}

/** What an answer says of a cut. */
export function markOf({ path, form, kept, total }: Cut): Omit<Cut, 'rest'> {
  return { path, form, kept, total };
}

/** The longest start of a text that is sent in `bytesMax` bytes; no pair of surrogates is parted. */
export function startOf(text: string, bytesMax: number): string {
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += characterBytes(character);
    if (bytes > bytesMax) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** What is the same all the way down. */
interface Cutting {
  /** Bytes of the lists and objects that were measured. */
  readonly sizes: Map<object, number>;
  readonly shareMin: number;
  readonly cuts: Cut[];
}

function cutValue(value: unknown, bytesMax: number, path: string, cutting: Cutting): unknown {
  if (sizeOf(value, cutting.sizes) <= bytesMax) return value;
  if (typeof value === 'string') {
    const kept = startOf(value, bytesMax - 4);
    cutting.cuts.push({ path, form: 'text', kept: kept.length, total: value.length, rest: value.slice(kept.length) });
    return kept;
  }
  if (Array.isArray(value)) return cutItems(value, bytesMax, path, cutting);
  if (isRecord(value) && canShare(value, bytesMax, path, cutting)) return cutEntries(value, bytesMax, path, cutting);
  const rest = JSON.stringify(value);
  cutting.cuts.push({ path, form: 'json', kept: 0, total: rest.length, rest });
  return null;
}

/** Whole items from the first on; one that fills the list alone is cut itself. */
function cutItems(items: readonly unknown[], bytesMax: number, path: string, cutting: Cutting): unknown[] {
  let left = bytesMax - 2;
  const whole = items.findIndex((item) => {
    left -= sizeOf(item, cutting.sizes) + 1;
    return left < 0;
  });
  const shown: unknown[] = items.slice(0, Math.max(0, whole));
  if (whole === 0 && bytesMax >= cutting.shareMin) shown.push(cutValue(items[0], bytesMax - 3, `${path}/0`, cutting));
  if (shown.length < items.length)
    cutting.cuts.push({
      path,
      form: 'items',
      kept: shown.length,
      total: items.length,
      rest: JSON.stringify(items.slice(shown.length)),
    });
  return shown;
}

/** Entries that take less than their share stay whole and leave the others the more. */
function cutEntries(
  entries: Readonly<Record<string, unknown>>,
  bytesMax: number,
  path: string,
  cutting: Cutting,
): Record<string, unknown> {
  const share = shareOf(entries, bytesMax, cutting.sizes);
  const shown: [string, unknown][] = [];
  for (const [key, value] of Object.entries(entries))
    shown.push([key, cutValue(value, share, `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, cutting)]);
  return Object.fromEntries(shown);
}

function canShare(
  entries: Readonly<Record<string, unknown>>,
  bytesMax: number,
  path: string,
  cutting: Cutting,
): boolean {
  if (shareOf(entries, bytesMax, cutting.sizes) < cutting.shareMin) return false;
  return Object.keys(entries).every((key) => path.length + key.length < pathLengthMax);
}

/** How many bytes each of the largest values may take, when the smaller ones are whole. */
function shareOf(entries: Readonly<Record<string, unknown>>, bytesMax: number, sizes: Map<object, number>): number {
  const values = Object.values(entries).map((value) => sizeOf(value, sizes));
  let left = bytesMax - 2;
  for (const key of Object.keys(entries)) left -= quotedBytes(JSON.stringify(key)) + 2;
  let waiting = values.length;
  for (const size of values.toSorted((one, other) => one - other)) {
    if (size > left / waiting) break;
    left -= size;
    waiting -= 1;
  }
  return waiting === 0 ? left : Math.floor(left / waiting);
}

function sizeOf(value: unknown, sizes: Map<object, number>): number {
  if (typeof value !== 'object' || value === null) return resultBytes(value);
  const known = sizes.get(value);
  if (known !== undefined) return known;
  let size = 2;
  if (Array.isArray(value)) for (const item of value) size += sizeOf(item ?? null, sizes) + 1;
  else
    for (const [key, inner] of Object.entries(value))
      size += quotedBytes(JSON.stringify(key)) + 2 + sizeOf(inner, sizes);
  sizes.set(value, size);
  return size;
}

function characterBytes(character: string): number {
  const code = character.charCodeAt(0);
  if (character.length === 1 && code >= 0x20 && code < 0x80 && code !== 0x22 && code !== 0x5c) return 1;
  return quotedBytes(JSON.stringify(character)) - 4;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
