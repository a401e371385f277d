import { z } from 'zod';

const partCharactersMax = 64;
const rememberedMax = 4_096;

const clientInfoSchema = z.object({ name: z.string(), version: z.string().optional() });
const modernBodySchema = z.object({
  params: z.object({ _meta: z.object({ 'io.modelcontextprotocol/clientInfo': clientInfoSchema }) }),
});
const initializeBodySchema = z.object({
  method: z.literal('initialize'),
  params: z.object({ clientInfo: clientInfoSchema }),
});

/** Which program is calling, as far as it says: for the token's last use, never for a decision (T29). */
export interface ClientNames {
  /** `name version`, without characters that hide or colour, or '' when the program never said. */
  clientOf(credentialId: string, body: unknown): string;
}

/**
 * Clients of 2026-07-28 name themselves in every request; those of 2025 only in `initialize`, so that name is
 * remembered for their token (the latest one, when several share a token).
 */
export function clientNames(): ClientNames {
  const remembered = new Map<string, string>();
  return {
    clientOf(credentialId, body) {
      const modern = modernBodySchema.safeParse(body);
      if (modern.success) return describeClient(modern.data.params._meta['io.modelcontextprotocol/clientInfo']);
      const initialize = initializeBodySchema.safeParse(body);
      if (!initialize.success) return remembered.get(credentialId) ?? '';
      const client = describeClient(initialize.data.params.clientInfo);
      remembered.delete(credentialId);
      remembered.set(credentialId, client);
      const [oldest] = remembered.keys();
      if (remembered.size > rememberedMax && oldest !== undefined) remembered.delete(oldest);
      return client;
    },
  };
}

function describeClient(info: z.infer<typeof clientInfoSchema>): string {
  return [info.name, info.version ?? '']
    .map((part) => plain(part))
    .filter((part) => part !== '')
    .join(' ');
}

function plain(text: string): string {
  return [...text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')].slice(0, partCharactersMax).join('').trim();
}
