// Starting other programs: with the right Node first on the PATH, with progress, with a time limit.
import { spawn } from 'node:child_process';
import { delimiter } from 'node:path';
import { formatDuration, say } from './say.mjs';

/**
 * @typedef {object} StepResult
 * @property {boolean} ok whether the program ended with 0
 * @property {number | null} code its exit code; null when it was stopped or could not start
 * @property {boolean} timedOut whether it was stopped because the limit passed
 * @property {string} output what it printed, stdout and stderr together, the last 64 KiB
 * @property {number} durationMs how long it took
 */

/**
 * The environment for children: the folders in `first` lead the PATH, in their order.
 * Windows spells the variable `Path`; exactly one spelling is left.
 * @param {NodeJS.ProcessEnv} env
 * @param {readonly string[]} first
 * @returns {NodeJS.ProcessEnv}
 */
export function withPath(env, first) {
  const key = Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
  const rest = env[key] === undefined || env[key] === '' ? [] : [env[key]];
  return { ...env, [key]: [...first, ...rest].join(delimiter) };
}

const OUTPUT_BYTES_MAX = 64 * 1024;
const HEARTBEAT_MS = 10_000;
const KILL_AFTER_MS = 5_000;

/**
 * Runs a program quietly, says every ten seconds that it is still at it, and keeps its output for the case that it fails.
 * @param {{ title: string, command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv, limitMs?: number, shell?: boolean }} step
 * @returns {Promise<StepResult>}
 */
export function runQuietly(step) {
  const startedAt = Date.now();
  say(`${step.title} …`);
  return new Promise((resolve) => {
    let output = '';
    let timedOut = false;
    const child = spawn(step.command, [...step.args], {
      cwd: step.cwd,
      env: { ...step.env, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: step.shell ?? false,
    });
    const keep = (/** @type {Buffer} */ chunk) => {
      output = (output + chunk.toString('utf8')).slice(-OUTPUT_BYTES_MAX);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const heartbeat = setInterval(
      () => say(`${step.title} … ${formatDuration(Date.now() - startedAt)} so far`),
      HEARTBEAT_MS,
    );
    /** @type {NodeJS.Timeout | undefined} */
    let killer;
    const limit =
      step.limitMs === undefined
        ? undefined
        : setTimeout(() => {
            timedOut = true;
            child.kill('SIGTERM');
            killer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
          }, step.limitMs);
    const finish = (/** @type {number | null} */ code) => {
      clearInterval(heartbeat);
      clearTimeout(limit);
      clearTimeout(killer);
      resolve({ ok: code === 0 && !timedOut, code, timedOut, output, durationMs: Date.now() - startedAt });
    };
    child.once('error', (error) => {
      output += `${error.message}\n`;
      finish(null);
    });
    child.once('close', (code) => finish(code));
  });
}

/**
 * Runs a program whose output people want to see, and waits for its end. Signals to stop are passed on to it.
 * @param {{ command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv }} step
 * @returns {Promise<number>} its exit code; 1 when it could not start or was killed by a signal
 */
export function runOpenly(step) {
  return new Promise((resolve) => {
    const child = spawn(step.command, [...step.args], { cwd: step.cwd, env: step.env, stdio: 'inherit' });
    const stopPassing = passSignalsTo(child);
    child.once('error', (error) => {
      say(`could not start ${step.command}: ${error.message}`);
      stopPassing();
      resolve(1);
    });
    child.once('close', (code) => {
      stopPassing();
      resolve(code ?? 1);
    });
  });
}

/**
 * Passes SIGINT, SIGTERM and SIGHUP on to a child, so that it can close its files, and keeps this process until it has.
 * @param {import('node:child_process').ChildProcess} child
 * @returns {() => void} call it when the child has ended
 */
export function passSignalsTo(child) {
  /** @type {NodeJS.Signals[]} */
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  const handlers = signals.map((signal) => {
    // A terminal sends Ctrl-C to the whole group: the child has it already and closes on its own.
    const handler = () => {
      if (signal === 'SIGINT' && process.stdin.isTTY) return;
      child.kill(signal);
    };
    process.on(signal, handler);
    return { signal, handler };
  });
  return () => {
    for (const { signal, handler } of handlers) process.off(signal, handler);
  };
}
