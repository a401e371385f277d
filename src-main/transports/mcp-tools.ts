import type { Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { CommandContract } from '../../src-preload/contract/command.ts';
import { commandTable } from '../../src-preload/contract/commands/table.ts';
import { jsonObjectSchema } from '../../src-preload/contract/json.ts';

/** `memory.changeset_create` → `memory_changeset_create`: how agents know a command. */
export function toolNameOf(commandName: string): string {
  return commandName.replace('.', '_');
}

const rowByTool: ReadonlyMap<string, CommandContract> = new Map(
  commandTable.filter((row) => row.tool).map((row) => [toolNameOf(row.name), row]),
);
const commandNames: ReadonlySet<string> = new Set(commandTable.map((row) => row.name));

/**
 * The command behind a tool. A name that is no tool goes on as it came, to be refused and audited by the pipeline;
 * it can never become a command, also when somebody spells one with its dot.
 */
export function commandNameOf(toolName: string): string {
  const known = rowByTool.get(toolName);
  if (known !== undefined) return known.name;
  return commandNames.has(toolName) ? `tool:${toolName}` : toolName;
}

/** The row of a tool, or undefined for a name that is none. */
export function rowOfTool(toolName: string): CommandContract | undefined {
  return rowByTool.get(toolName);
}

/** The tools among the rows, in their order (T23), as MCP lists them. */
export function toolsOf(rows: readonly CommandContract[]): Tool[] {
  return rows.filter((row) => row.tool).map((row) => toolOf(row));
}

const toolByRow = new WeakMap<CommandContract, Tool>();

function toolOf(row: CommandContract): Tool {
  const known = toolByRow.get(row);
  if (known !== undefined) return known;
  const tool: Tool = {
    name: toolNameOf(row.name),
    title: row.title,
    description: row.description,
    inputSchema: withCursor(row, publishedInputSchema(row.input)),
    // Only this much: 1.x clients check results against it even when they are errors (`charon.md` §3).
    outputSchema: { type: 'object' },
    annotations: { title: row.title, ...row.annotations, openWorldHint: false },
  };
  toolByRow.set(row, tool);
  return tool;
}

/** Look-around and Unicode classes: not every client's regular expressions know them, and some then drop the tool. */
const unportablePattern = /\(\?[=!<]|\\[pP]/;

/**
 * The contract's input schema as JSON Schema, closed, and without what a client may not understand: such patterns are
 * left out, and a free JSON object is just `object`. The pipeline checks all of it anyway (T24).
 */
function publishedInputSchema(input: z.ZodType): Tool['inputSchema'] {
  const { $defs: _unused, ...schema } = z.toJSONSchema(input, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      if (Object.is(zodSchema, jsonObjectSchema)) {
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
        Object.assign(jsonSchema, { type: 'object', additionalProperties: true });
      }
      const { pattern } = jsonSchema;
      if (pattern !== undefined && (jsonSchema.format !== undefined || unportablePattern.test(pattern)))
        delete jsonSchema.pattern;
    },
  });
  return inputSchemaSchema.parse(schema);
}

const restCursor = { type: 'string', minLength: 1, description: 'The rest_cursor of an answer that was cut.' };

/** A read without pages of its own takes the cursor to the rest of an answer that was cut (T170). */
function withCursor(row: CommandContract, schema: Tool['inputSchema']): Tool['inputSchema'] {
  if (row.mutates || schema.properties?.cursor !== undefined) return schema;
  return { ...schema, properties: { ...schema.properties, cursor: restCursor } };
}

const inputSchemaSchema = z.looseObject({
  type: z.literal('object'),
  properties: z.record(z.string(), z.record(z.string(), z.json())).optional(),
  required: z.array(z.string()).optional(),
});
