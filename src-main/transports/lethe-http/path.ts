/** A request's path as it is routed: its segments, and whether they are still as they came. */
export interface RoutedPath {
  readonly segments: readonly string[];
  /** True: the URL was written in another encoding than the default one, and no segment was decoded. */
  readonly raw: boolean;
}

/**
 * Reads a path as the reference does (`lethe.md` §1.0): decoded when it is written in the default encoding, else taken as it
 * came, so `a%20b` is `a b` and `a%2Fb` stays `a%2Fb`. Undefined for a percent sign that begins no byte.
 */
export function readPath(path: string): RoutedPath | undefined {
  const bytes = decodePercent(path);
  if (bytes === undefined) return undefined;
  const raw = encodeDefault(bytes) !== path;
  const text = raw ? path : bytes.toString('utf8');
  return { segments: text.split('/').slice(1), raw };
}

/** One segment in plain text, whatever way its path was routed. */
export function decodeSegment(segment: string, raw: boolean): string {
  return raw ? (decodePercent(segment)?.toString('utf8') ?? segment) : segment;
}

function decodePercent(text: string): Buffer | undefined {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return undefined;
  const bytes = text.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1');
}

/** Bytes that the default encoding of a path leaves as they are. */
const plainByte = /[A-Za-z0-9\-_.~$&+,/:;=@]/;

function encodeDefault(bytes: Buffer): string {
  let text = '';
  for (const byte of bytes) {
    const char = String.fromCharCode(byte);
    text += plainByte.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return text;
}

/** The values of a pattern's `{names}` when the segments fit it, else undefined. No name takes an empty segment. */
export function matchPattern(
  pattern: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? '';
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined ? part !== segment : segment === '') return undefined;
    if (name !== undefined) params[name] = segment;
  }
  return params;
}
