// One voice for every script: short sentences on stderr, so that stdout stays clean for programs.

/** Prints one line for people. Purpose: say what is being done, or what happened. */
export function say(/** @type {string} */ text) {
  process.stderr.write(`memory-git: ${text}\n`);
}

/** Formats a duration in milliseconds for people: `0.4 s`, `12 s`, `2 min 05 s`. */
export function formatDuration(/** @type {number} */ durationMs) {
  const seconds = durationMs / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 100) return `${Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
}
