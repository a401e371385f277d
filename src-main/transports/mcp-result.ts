import type { CallToolResult } from '@modelcontextprotocol/server';
import { assert } from '../base/assert.ts';
import type { Fault } from '../base/fault.ts';
import { reasonOf } from './fault-status.ts';

/** A command's output as a tool result: structured, and the same whole as text, since many clients show nothing else (T26). */
export function toolResult(output: unknown): CallToolResult {
  assert(isObject(output), 'the output of a command is an object');
  return { content: [{ type: 'text', text: JSON.stringify(output) }], structuredContent: output };
}

/**
 * A refusal as a tool result (T28): first line `<kind>: <reason>`, then the structured part {code, message, data} whole.
 */
export function toolRefusal(fault: Fault): CallToolResult {
  const structuredContent = { code: fault.code, message: fault.message, data: fault.data };
  const text = `${fault.kind}: ${reasonOf(fault.code)}\n${JSON.stringify(structuredContent)}`;
  return { isError: true, content: [{ type: 'text', text }], structuredContent };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
