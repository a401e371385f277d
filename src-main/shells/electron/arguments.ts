/** What the desk is told when it is started. */
export interface DeskArguments {
  /** The home that was named; undefined when the default one is meant. */
  readonly home: string | undefined;
  /** The port of the agent door; null when the settings decide. */
  readonly port: number | null;
}

/**
 * Reads `--home DIR` and `--port N` (also `--home=DIR`); Chromium's own switches and deep links are not ours and are
 * passed over. A port that is none is an error in words for people, since an agent would look for the door elsewhere.
 */
export function parseDeskArguments(argv: readonly string[]): DeskArguments {
  const home = valueAfter(argv, '--home');
  const port = valueAfter(argv, '--port');
  if (port !== undefined && (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)) {
    throw new RangeError(`--port takes a number from 0 to 65535, not ${JSON.stringify(port.slice(0, 20))}.`);
  }
  return { home, port: port === undefined ? null : Number(port) };
}

function valueAfter(argv: readonly string[], name: string): string | undefined {
  const index = argv.findIndex((argument) => argument === name || argument.startsWith(`${name}=`));
  const argument = argv[index];
  if (argument === undefined) return undefined;
  return argument === name ? argv[index + 1] : argument.slice(name.length + 1);
}
