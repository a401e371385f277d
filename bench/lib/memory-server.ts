import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { type AgentClient, clientOfSdk1 } from '../../test/support/mcp-clients.ts';
import { textOf } from './texts.ts';

/** The official memory server of the protocol, in a process of its own, with so many memories in its file. */
export interface MemoryServer {
  /** Remembers one more text. It writes its whole file anew and syncs nothing. */
  add(text: string): Promise<void>;
  /** Finds what holds a text. */
  search(query: string): Promise<void>;
  /** Reads the memory of a number. */
  open(number: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts it over stdio on a file of `count` memories in a folder. */
export async function openMemoryServer(folder: string, count: number): Promise<MemoryServer> {
  const file = join(folder, 'memory-server.jsonl');
  const entities = Array.from({ length: count }, (_, number) => entityOf(number, textOf(number)));
  writeFileSync(file, entities.map((entity) => JSON.stringify({ type: 'entity', ...entity })).join('\n'));
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-memory/dist/index.js'))],
    env: { MEMORY_FILE_PATH: file },
    stderr: 'ignore',
  });
  const client = await clientOfSdk1(transport, 'bench');
  const call = callerOf(client);
  let next = count;
  return {
    add: async (text) => void (await call('create_entities', { entities: [entityOf(next++, text)] })),
    search: async (query) => requireSome(await call('search_nodes', { query })),
    open: async (number) => requireSome(await call('open_nodes', { names: [nameOf(number)] })),
    close: () => client.close(),
  };
}

function nameOf(number: number): string {
  return `memory ${number}`;
}

function entityOf(number: number, text: string) {
  return { name: nameOf(number), entityType: 'fact', observations: [text] };
}

function callerOf(client: Pick<AgentClient, 'call'>) {
  return async (tool: string, input: Record<string, unknown>): Promise<unknown> => {
    const answer = await client.call(tool, input);
    if (answer.isError) throw new Error(`the memory server refused ${tool}: ${answer.text}`);
    return answer.structured.entities;
  };
}

function requireSome(entities: unknown): void {
  if (!Array.isArray(entities) || entities.length === 0) throw new Error('the memory server found nothing');
}
