import type { CallToolResult } from '@modelcontextprotocol/server';
import { resultBytesMax } from '../../src-preload/contract/limits.ts';
import type { Fault } from '../base/fault.ts';
import { reasonOf } from './fault-status.ts';
import { type Cut, cutToFit, markOf } from './mcp-cut.ts';

/** What a refusal's first line leaves of the bound. */
const structureBytesMax = resultBytesMax - 128;

/** A command's output as a tool result: structured, and the same whole as text, since many clients show nothing else (T26). */
export function toolResult(output: Readonly<Record<string, unknown>>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(output) }], structuredContent: output };
}

/**
 * A refusal as a tool result (T28): first line `<kind>: <reason>`, then the structured part {code, message, data} whole.
 * Where it names more than fits, `data.cut` says what was left out (T170).
 */
export function toolRefusal(fault: Fault): CallToolResult {
  const { shown, cuts } = cutToFit({ code: fault.code, message: fault.message, data: fault.data }, structureBytesMax);
  const { code, message, data } = shown;
  const structuredContent = cuts.length === 0 ? { code, message, data } : { code, message, data: marked(data, cuts) };
  const text = `${fault.kind}: ${reasonOf(fault.code)}\n${JSON.stringify(structuredContent)}`;
  return { isError: true, content: [{ type: 'text', text }], structuredContent };
}

function marked(data: unknown, cuts: readonly Cut[]): Record<string, unknown> {
  return { ...(isObject(data) ? data : {}), cut: cuts.map(markOf) };
}

/** An object of JSON, as every output of a command is. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
