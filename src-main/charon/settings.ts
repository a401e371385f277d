import { toTimestamp } from '../base/clock.ts';
import type { WritableDb } from '../sqlite/driver.ts';
import { type CharonContext, write } from './context.ts';
import type { MacKey } from './rules/audit-entry.ts';
import { settingMac, verifySetting } from './rules/setting-mac.ts';
import { findSetting, upsertSetting } from './tables/settings.ts';

const ownerSelfMergeName = 'owner_self_merge';

/**
 * May the owner merge the owner's own proposal at the owner's doors (`charon.md` §4)? A value that is missing or does not
 * carry the ledger's MAC counts as off.
 */
export function ownerSelfMerge(context: CharonContext): boolean {
  const row = findSetting(context.db, ownerSelfMergeName);
  if (row === undefined) return false;
  const setting = { name: ownerSelfMergeName, value: row.value, changedAt: row.changed_at };
  if (verifySetting(context.keys.ledger, context.homeId, setting, row.mac, row.mac_key_id)) return row.value === 'on';
  context.log.error(
    { setting: ownerSelfMergeName },
    'a security setting does not carry the MAC of the ledger and counts as off',
  );
  return false;
}

/** Turns the owner's self-merge on or off. */
export function setOwnerSelfMerge(context: CharonContext, on: boolean): Promise<void> {
  const { homeId, keys } = context;
  return write(context, (db) =>
    storeOwnerSelfMerge(db, { homeId, macKey: keys.ledger, nowMs: context.clock.nowMs(), on }),
  );
}

/** Writes the value under its MAC: also in the transaction that makes a home, where it is on. */
export function storeOwnerSelfMerge(
  db: WritableDb,
  stored: { readonly homeId: string; readonly macKey: MacKey; readonly nowMs: number; readonly on: boolean },
): void {
  const setting = { name: ownerSelfMergeName, value: stored.on ? 'on' : 'off', changedAt: toTimestamp(stored.nowMs) };
  upsertSetting(db, setting.name, {
    value: setting.value,
    changed_at: setting.changedAt,
    mac: settingMac(stored.macKey, stored.homeId, setting),
    mac_key_id: stored.macKey.id,
  });
}
