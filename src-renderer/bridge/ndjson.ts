/** Splits a stream of text into JSON lines; text after the last newline waits for more. Lines that are not JSON are dropped. */
export interface LineReader {
  /** Takes the next piece of text; returns the values of every line that it completed, in order. */
  push(text: string): readonly unknown[];
}

/** A line may have `lineCharsMax` characters; a longer one is dropped whole, so that a broken peer cannot fill memory. */
export function createLineReader(lineCharsMax = 1_000_000): LineReader {
  let rest = '';
  return {
    push(text) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > lineCharsMax) rest = '';
      return lines.filter((line) => line.trim() !== '' && line.length <= lineCharsMax).flatMap(parseLine);
    },
  };
}

function parseLine(line: string): unknown[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}
