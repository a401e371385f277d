import { Fault } from '../../src-main/base/fault.ts';

/** The fault with which something is refused. Whatever else it throws is thrown on; what is not refused is an error. */
export async function refusal(work: () => unknown): Promise<Fault> {
  try {
    await work();
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
    throw thrown;
  }
  throw new Error('nothing was refused');
}
