import { z } from 'zod';
import { backupsKeptDefault } from '../../src-preload/contract/commands/backup.ts';
import { Fault } from '../base/fault.ts';
import type { HomePaths } from './home.ts';
import { limitsSchema } from './limits.ts';
import { readTextIfThere } from './private-file.ts';

/** The door's own port; 0 asks the system for any free one. */
export const agentPortDefault = 18_484;

/** Port of the store's own HTTP protocol. */
export const letheHttpPortDefault = 18_485;

const port = z.int().min(0).max(65_535);

/** Unknown keys are left alone: a newer version may have written them. */
const settingsSchema = z.object({
  ports: z
    .object({ agent: port.default(agentPortDefault), owner_page: port.default(0) })
    .default({ agent: agentPortDefault, owner_page: 0 }),
  /** The store's own HTTP protocol on a loopback port, off unless asked for. */
  lethe_http: z
    .object({ enabled: z.boolean().default(false), port: port.default(letheHttpPortDefault) })
    .default({ enabled: false, port: letheHttpPortDefault }),
  /** How many backups are kept. */
  backups: z
    .object({ keep: z.int().min(1).max(1_000).default(backupsKeptDefault) })
    .default({ keep: backupsKeptDefault }),
  limits: limitsSchema.default(limitsSchema.parse({})),
  appearance: z.object({ theme: z.enum(['system', 'light', 'dark']).default('system') }).default({ theme: 'system' }),
});

/** Ports, limits and appearance. What matters for security lives in charon.db under the ledger's MAC, not here. */
export type Settings = z.infer<typeof settingsSchema>;

/** The settings of a home: defaults where nothing is said. A damaged file is HOME_INVALID naming the field (H12). */
export function readSettings(paths: HomePaths): Settings {
  const text = readTextIfThere(paths.settings);
  if (text === undefined) return settingsSchema.parse({});
  const parsed = settingsSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue === undefined || issue.path.length === 0 ? 'the whole file' : issue.path.join('.');
  throw new Fault(
    'HOME_INVALID',
    `settings.json cannot be used: ${field}: ${issue?.message ?? 'not understood'}. Correct it, or delete the file to get the defaults.`,
    { field },
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Fault('HOME_INVALID', 'settings.json is not JSON. Correct it, or delete the file to get the defaults.', {
      field: '',
    });
  }
}
