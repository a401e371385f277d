/** Switches that would hand the packaged app to whoever starts it (`design.md` §4). */
const forbidden: readonly RegExp[] = [
  /^remote-debugging-(port|pipe|address|targets)$/,
  /^inspect([-_].*)?$/,
  /^debug([-_].*)?$/,
  /^js-flags$/,
  /^load-extension$/,
];

/**
 * The first forbidden switch among the arguments, without its dashes and value; undefined when there is none.
 * Chromium takes one or two dashes, on Windows a slash too, and any case.
 */
export function findForbiddenSwitch(argv: readonly string[], platform: NodeJS.Platform): string | undefined {
  const prefix = platform === 'win32' ? /^(--?|\/)/ : /^--?/;
  return argv
    .filter((argument) => prefix.test(argument))
    .map((argument) => argument.replace(prefix, '').split('=')[0]?.toLowerCase() ?? '')
    .find((name) => forbidden.some((pattern) => pattern.test(name)));
}
