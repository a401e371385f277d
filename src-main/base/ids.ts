import { randomBytes as systemRandomBytes } from 'node:crypto';
import { V7Generator } from 'uuidv7';

/** Where identities and randomness come from. A parameter everywhere, so that a test can seed it. */
export interface Ids {
  /** A UUIDv7 in lower case; those of one process ascend. */
  uuidv7(): string;
  /** `count` random bytes. */
  randomBytes(count: number): Buffer;
}

/** Identities from the operating system's randomness. */
export function systemIds(): Ids {
  const generator = new V7Generator();
  return { uuidv7: () => generator.generate().toString(), randomBytes: (count) => systemRandomBytes(count) };
}
