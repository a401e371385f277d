import type { CallToolResult } from '@modelcontextprotocol/server';
import type { CommandContract } from '../../src-preload/contract/command.ts';
import { resultBytesMax } from '../../src-preload/contract/limits.ts';
import { assert } from '../base/assert.ts';
import { toFault } from '../base/fault.ts';
import { inputDigest } from '../commands/digest.ts';
import { cutToFit, markOf } from './mcp-cut.ts';
import { formatRestCursor, parseRestCursor, type RestCursor, readRest, restDigest } from './mcp-rest.ts';
import { isObject, toolRefusal, toolResult } from './mcp-result.ts';
import { commandNameOf, rowOfTool } from './mcp-tools.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Bytes around the pieces of a rest: their list, and the cursor to what follows. */
const restFrameBytes = 8_000;

/**
 * Calls a tool and answers within the bound of a result (`charon.md` §3). An answer that is too large is cut, says so in
 * `cut`, and of a read gives the cursor to what is missing (`rest_cursor`): asked again with it as `cursor` and everything
 * else the same, the tool answers the rest in pieces. Where the answer is another by then, it is given anew, `changed`.
 * Never rejects.
 */
export async function callTool(
  tool: string,
  given: Fields,
  run: (name: string, input: unknown) => Promise<unknown>,
): Promise<CallToolResult> {
  const row = rowOfTool(tool);
  const asked = askedDigest(tool, given);
  const rest = row?.mutates === false ? parseRestCursor(given.cursor) : undefined;
  // A cursor to the rest of another question goes on as it came, to be refused and recorded by the pipeline.
  const known = rest?.asked === asked ? rest : undefined;
  try {
    const output = await run(commandNameOf(tool), known === undefined ? given : inputAgain(given, known));
    return answer(row, given, asked, known, output);
  } catch (error) {
    return toolRefusal(toFault(error));
  }
}

function answer(
  row: CommandContract | undefined,
  given: Fields,
  asked: string | undefined,
  known: RestCursor | undefined,
  output: unknown,
): CallToolResult {
  assert(isObject(output), 'the output of a command is an object');
  const { shown, cuts } = cutToFit(output, resultBytesMax);
  // Also what is not cut must be the same: a state that was never shown must not pass for one that was.
  const whole = cuts.length === 0 ? undefined : restDigest(output);
  if (known !== undefined && known.answer === whole) {
    const { parts, next } = readRest(cuts, known.place, resultBytesMax - restFrameBytes);
    return toolResult({
      rest: parts,
      ...(next === undefined ? {} : { rest_cursor: formatRestCursor({ ...known, place: next }) }),
    });
  }
  const changed = known === undefined ? {} : { changed: true };
  if (cuts.length === 0) return toolResult({ ...shown, ...changed });
  const pinned = known ?? pinOf(row, given, output);
  const cursor =
    row?.mutates !== false || asked === undefined || whole === undefined
      ? {}
      : { rest_cursor: formatRestCursor({ ...pinned, asked, answer: whole, place: { cut: 0, at: 0 } }) };
  return toolResult({ ...shown, cut: cuts.map(markOf), ...cursor, ...changed });
}

/** What was asked, but for the cursor; undefined for what has no canonical form. */
function askedDigest(tool: string, { cursor: _cursor, ...given }: Fields): string | undefined {
  return inputDigest({ tool, given });
}

/** The question that the answer was given to, at the head that it was given at. */
function inputAgain({ cursor: _cursor, ...given }: Fields, { cursor, head }: RestCursor): Fields {
  return {
    ...given,
    ...(cursor === undefined ? {} : { cursor }),
    ...(head === undefined ? {} : { head_changeset_id: head }),
  };
}

/** Ways to say of which head, or of which context, an answer is. */
const selectors: readonly string[] = ['cursor', 'head_changeset_id', 'at', 'manifest_id'];

/** What keeps the rest of an answer that of the same page and head, whatever comes meanwhile. */
function pinOf(row: CommandContract | undefined, given: Fields, output: Fields): Pick<RestCursor, 'cursor' | 'head'> {
  if (typeof given.cursor === 'string') return { cursor: given.cursor };
  const { head_changeset_id: head } = output;
  const takesHead = row?.name === 'memory.context_at' || row?.name === 'memory.search' || row?.name === 'memory.get';
  if (!takesHead || typeof head !== 'string' || selectors.some((key) => given[key] !== undefined)) return {};
  return { head };
}
