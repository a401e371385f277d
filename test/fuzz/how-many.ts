/**
 * How many random histories a test looks at: all of them in `npm run drill:fuzz`, the first third in `npm test`, which is to
 * stay short. The seeds are the same ones.
 */
export function howMany(whole: number): number {
  return process.env.FUZZ_WHOLE === '1' ? whole : Math.ceil(whole / 3);
}
