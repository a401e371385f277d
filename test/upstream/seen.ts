import { Fault } from '../../src-main/base/fault.ts';

/** What a verb answers, or how it refuses: without what is undefined, which no wire carries. */
export async function seen(ask: () => unknown): Promise<unknown> {
  try {
    const answer: unknown = await ask();
    return answer === undefined ? 'undefined' : JSON.parse(JSON.stringify(answer));
  } catch (thrown) {
    if (thrown instanceof Fault) return { code: thrown.code, data: JSON.parse(JSON.stringify(thrown.data)) };
    throw thrown;
  }
}
