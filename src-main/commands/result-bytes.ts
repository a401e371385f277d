/**
 * The bytes of a result as it is sent inside the text of a tool's answer: as JSON, and that once more inside a JSON string,
 * so that a quote takes four bytes and a control character seven (`charon.md` §3). The same beside it, as structure, never
 * takes more.
 */
export function resultBytes(result: unknown): number {
  return quotedBytes(JSON.stringify(result) ?? '');
}

/** Bytes that a text of JSON takes inside a JSON string, without the quotes around it. */
export function quotedBytes(json: string): number {
  // Nothing but quotes and backslashes becomes longer: control characters are escaped already.
  let escapes = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === 0x22 || code === 0x5c) escapes += 1;
  }
  return Buffer.byteLength(json, 'utf8') + escapes;
}
