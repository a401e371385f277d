import { jsonDepthMax } from '../../src-preload/contract/limits.ts';
import { Fault } from '../base/fault.ts';

/**
 * A request's body as a JSON value (T7): UTF-8, one JSON text, at most 64 levels of arrays and objects, no key named
 * `__proto__`, which libraries read in ways that nobody means.
 * Throws BODY_INVALID, BODY_TOO_DEEP; neither repeats anything of the body.
 */
export function parseJsonBody(bytes: Uint8Array): unknown {
  const value = parseText(decodeUtf8(bytes));
  checkShape(value);
  return value;
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Fault('BODY_INVALID', 'The body is not UTF-8. Send JSON in UTF-8.');
  }
}

function parseText(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    throw new Fault('BODY_INVALID', 'The body is not JSON. Send one JSON value in UTF-8.');
  }
}

/** Walks level by level, so that neither depth nor size can exhaust the stack. */
function checkShape(root: unknown): void {
  let level: readonly unknown[] = [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    const containers = level.filter((value) => typeof value === 'object' && value !== null);
    if (containers.length > 0 && depth === jsonDepthMax) {
      throw new Fault('BODY_TOO_DEEP', `The body is nested deeper than ${jsonDepthMax} levels. Flatten it.`);
    }
    level = containers.flatMap((container) => childrenOf(container));
  }
}

function childrenOf(container: unknown): readonly unknown[] {
  if (Array.isArray(container)) return container;
  if (typeof container !== 'object' || container === null) return [];
  if (Object.hasOwn(container, '__proto__')) {
    throw new Fault('BODY_INVALID', 'The body has a key named __proto__. Rename that key.');
  }
  return Object.values(container);
}
