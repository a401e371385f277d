// One agent in a process of its own: so many commits to one ref that others commit to as well, each tried until it lands
// and then asked for once more under its key. Arguments: url, token, project, ref, head, how many, its name.
// Prints what it saw as one line of JSON; whatever is no typed conflict ends it.
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const retryWithinMs = 100;

const [url, token, project, ref, firstHead, count, name] = z
  .tuple([z.url(), z.string(), z.string(), z.string(), z.string(), z.coerce.number().int().min(1), z.string()])
  .parse(process.argv.slice(2));

const movedSchema = z.object({
  code: z.literal('REF_MOVED'),
  message: z.string(),
  data: z.object({ ref: z.literal(ref), expected: z.string(), actual: z.string() }),
});
const madeSchema = z.object({ changeset_id: z.string() });

const statuses: Record<string, number> = {};
const plainFetch = globalThis.fetch;
globalThis.fetch = async (...request) => {
  const response = await plainFetch(...request);
  statuses[response.status] = (statuses[response.status] ?? 0) + 1;
  return response;
};
const { connectClient } = await import('./mcp-clients.ts');
const client = await connectClient('sdk2-auto', { url, token }, name);

const made: string[] = [];
let stale = 0;
let head = firstHead;
for (let number = 1; number <= count; number += 1) {
  for (;;) {
    const request = {
      project,
      ref,
      expected_head: head,
      parent_ids: [head],
      message: `number ${number} of ${name}`,
      idempotency_key: `${name} ${number}`,
      ops: [{ ordinal: 0, op_type: 'add_memory', payload: { content: `what ${name} learned, number ${number}` } }],
    };
    const answer = await client.call('memory_changeset_create', request);
    if (answer.isError) {
      const { data } = movedSchema.parse(answer.structured);
      if (data.expected !== head || data.actual === head || !answer.text.startsWith('conflict: '))
        throw new Error(`a stale attempt was answered with ${answer.text}`);
      stale += 1;
      head = data.actual;
      // As clients do that try again: not all of them at the same moment.
      await sleep(Math.random() * retryWithinMs);
      continue;
    }
    head = madeSchema.parse(answer.structured).changeset_id;
    const again = await client.call('memory_changeset_create', request);
    if (JSON.stringify(again.structured) !== JSON.stringify(answer.structured))
      throw new Error(`a replay was answered with ${again.text}`);
    made.push(head);
    break;
  }
}
await client.close();
process.stdout.write(`${JSON.stringify({ made, stale, statuses })}\n`);
