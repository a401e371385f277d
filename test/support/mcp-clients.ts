import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { z } from 'zod';
import { assert } from '../../src-main/base/assert.ts';

/** The kinds of client that agents bring: two SDK generations, two protocol eras. */
export const clientKinds = ['sdk1', 'sdk2-auto', 'sdk2-legacy'] as const;
export type ClientKind = (typeof clientKinds)[number];

export interface Address {
  readonly url: string;
  readonly token: string;
}

export interface ToolAnswer {
  readonly isError: boolean;
  readonly text: string;
  readonly structured: Readonly<Record<string, unknown>>;
}

/** One connected real client, whatever its kind. */
export interface AgentClient {
  readonly kind: ClientKind;
  readonly protocolVersion: string | undefined;
  /** The tools as the client sees them, whole. */
  listTools(): Promise<readonly ListedTool[]>;
  call(name: string, input?: Record<string, unknown>): Promise<ToolAnswer>;
  close(): Promise<void>;
}

const listedToolSchema = z.looseObject({
  name: z.string(),
  description: z.string(),
  inputSchema: z.looseObject({ type: z.literal('object'), required: z.array(z.string()).optional() }),
  outputSchema: z.unknown(),
  annotations: z.unknown(),
});
export type ListedTool = z.infer<typeof listedToolSchema>;

const answerSchema = z.object({
  isError: z.boolean().optional(),
  content: z.tuple([z.object({ type: z.literal('text'), text: z.string() })]),
  structuredContent: z.record(z.string(), z.unknown()),
});

/** Connects a client of the kind; the caller closes it. `name` is what it calls itself, version 1.2.3. */
export async function connectClient(kind: ClientKind, address: Address, name = `test-${kind}`): Promise<AgentClient> {
  return kind === 'sdk1' ? connectSdk1(address, name) : connectSdk2(kind, address, name);
}

async function connectSdk1({ url, token }: Address, name: string): Promise<AgentClient> {
  const transport = new Transport1(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } });
  assert(isTransport1(transport), 'the SDK makes its own transport');
  return { ...(await clientOfSdk1(transport, name)), protocolVersion: transport.protocolVersion };
}

function connectSdk2(kind: 'sdk2-auto' | 'sdk2-legacy', { url, token }: Address, name: string): Promise<AgentClient> {
  const transport = new Transport2(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } });
  return clientOfSdk2(kind, transport, name);
}

/** A client of SDK 1.x over a transport of its own. */
export async function clientOfSdk1(
  transport: Parameters<Client1['connect']>[0],
  name: string,
): Promise<Omit<AgentClient, 'protocolVersion'>> {
  const client = new Client1({ name, version: '1.2.3' });
  await client.connect(transport);
  return {
    kind: 'sdk1',
    listTools: async () => z.array(listedToolSchema).parse((await client.listTools()).tools),
    call: async (tool, input = {}) => answerOf(await client.callTool({ name: tool, arguments: input })),
    close: () => client.close(),
  };
}

/** A client of SDK 2.x over a transport of its own, which negotiates by itself or speaks as in 2025. */
export async function clientOfSdk2(
  kind: 'sdk2-auto' | 'sdk2-legacy',
  transport: Parameters<Client2['connect']>[0],
  name: string,
): Promise<AgentClient> {
  const client = new Client2(
    { name, version: '1.2.3' },
    { versionNegotiation: { mode: kind === 'sdk2-auto' ? 'auto' : 'legacy' } },
  );
  await client.connect(transport);
  return {
    kind,
    protocolVersion: client.getNegotiatedProtocolVersion(),
    listTools: async () => z.array(listedToolSchema).parse((await client.listTools()).tools),
    call: async (tool, input = {}) => answerOf(await client.callTool({ name: tool, arguments: input })),
    close: () => client.close(),
  };
}

/** The SDK's class and its interface disagree under exactOptionalPropertyTypes, although one implements the other. */
function isTransport1(value: unknown): value is Parameters<Client1['connect']>[0] & Transport1 {
  return value instanceof Transport1;
}

function answerOf(result: unknown): ToolAnswer {
  const { isError, content, structuredContent } = answerSchema.parse(result);
  return { isError: isError ?? false, text: content[0].text, structured: structuredContent };
}
