import { toTimestamp } from '../base/clock.ts';
import type { WritableDb } from '../sqlite/driver.ts';
import { type CharonContext, type CharonKeys, write } from './context.ts';
import type { MacKey } from './rules/audit-entry.ts';
import { settingMac, verifySetting } from './rules/setting-mac.ts';
import { findSetting, listSettings, type SettingRow, upsertSetting } from './tables/settings.ts';

/** The switches that matter for security, by the name that each is stored under. */
type Switch = 'owner_self_merge' | 'ledger_open_registration' | 'oauth_enabled';
const ownerSelfMergeName: Switch = 'owner_self_merge';
const openRegistrationName: Switch = 'ledger_open_registration';
const oauthEnabledName: Switch = 'oauth_enabled';

/** Every security setting: the switches, how acts of power are confirmed, and which of them the owner has seen. */
type SettingName = Switch | 'owner_confirm' | 'acts_seen_through';

/**
 * May the owner merge the owner's own proposal at the owner's doors (`charon.md` §4)? A value that is missing or does not
 * carry the ledger's MAC counts as off.
 */
export function ownerSelfMerge(context: CharonContext): boolean {
  return isOn(context, ownerSelfMergeName);
}

/** Are agents let in to the memory ledger without being asked about (`ledger.md` §1)? Counts as off likewise. */
export function openRegistration(context: CharonContext): boolean {
  return isOn(context, openRegistrationName);
}

/** Turns that on or off. */
export function setOpenRegistration(context: CharonContext, on: boolean): Promise<void> {
  const { homeId, keys } = context;
  return write(context, (db) =>
    storeSwitch(db, openRegistrationName, { homeId, macKey: keys.ledger, nowMs: context.clock.nowMs(), on }),
  );
}

/** May programs ask to sign in (`charon.md` §2)? Counts as off likewise. */
export function oauthEnabled(context: CharonContext): boolean {
  return isOn(context, oauthEnabledName);
}

/** Turns that on or off. */
export function setOauthEnabled(context: CharonContext, on: boolean): Promise<void> {
  const { homeId, keys } = context;
  return write(context, (db, emit) => {
    storeSwitch(db, oauthEnabledName, { homeId, macKey: keys.ledger, nowMs: context.clock.nowMs(), on });
    emit({ kind: 'oauth_changed' });
  });
}

function isOn(context: CharonContext, name: Switch): boolean {
  const stored = readSetting(context, name);
  return stored.kind === 'held' && stored.value === 'on';
}

/** A security setting as it is found: `forged` when it does not carry the ledger's MAC. */
export type StoredSetting =
  | { readonly kind: 'absent' }
  | { readonly kind: 'forged' }
  | { readonly kind: 'held'; readonly value: string };

/** Reads a setting under its MAC; what a forged one counts as is for the caller to say. */
export function readSetting(context: CharonContext, name: SettingName): StoredSetting {
  const row = findSetting(context.db, name);
  if (row === undefined) return { kind: 'absent' };
  const setting = { name, value: row.value, changedAt: row.changed_at };
  if (verifySetting(keyOf(context, row), context.homeId, setting, row.mac, row.mac_key_id))
    return { kind: 'held', value: row.value };
  context.log.error({ setting: name }, 'a security setting does not carry the MAC of the ledger and does not count');
  return { kind: 'forged' };
}

/** The key that a MAC must be of: in recovery, where nothing is put under the present key, one before it too. */
function keyOf({ keys, readOnly }: CharonContext, { mac_key_id: id }: SettingRow): MacKey {
  const earlier = readOnly ? keys.earlierLedgers?.get(id) : undefined;
  return earlier === undefined ? keys.ledger : { id, key: earlier };
}

/** Writes a setting of this home under its MAC. */
export function writeSetting(db: WritableDb, context: CharonContext, name: SettingName, value: string): void {
  const { homeId, keys, clock } = context;
  storeSetting(db, name, { homeId, macKey: keys.ledger, nowMs: clock.nowMs(), value });
}

/** Turns the owner's self-merge on or off. */
export function setOwnerSelfMerge(context: CharonContext, on: boolean): Promise<void> {
  const { homeId, keys } = context;
  return write(context, (db) =>
    storeOwnerSelfMerge(db, { homeId, macKey: keys.ledger, nowMs: context.clock.nowMs(), on }),
  );
}

/** Writes the value under its MAC: also in the transaction that makes a home, where it is on. */
export function storeOwnerSelfMerge(db: WritableDb, stored: StoredSwitch): void {
  storeSwitch(db, ownerSelfMergeName, stored);
}

/** Puts the MAC of the present ledger key under every setting that carries one of before: its value stays as it is. */
export function renewSettings(db: WritableDb, keys: CharonKeys, homeId: string): void {
  for (const { name, ...row } of listSettings(db)) {
    const earlier = keys.earlierLedgers?.get(row.mac_key_id);
    if (earlier === undefined || row.mac_key_id === keys.ledger.id) continue;
    const setting = { name, value: row.value, changedAt: row.changed_at };
    if (!verifySetting({ id: row.mac_key_id, key: earlier }, homeId, setting, row.mac, row.mac_key_id)) continue;
    upsertSetting(db, name, { ...row, mac: settingMac(keys.ledger, homeId, setting), mac_key_id: keys.ledger.id });
  }
}

interface Stored {
  readonly homeId: string;
  readonly macKey: MacKey;
  readonly nowMs: number;
}

type StoredSwitch = Stored & { readonly on: boolean };

function storeSwitch(db: WritableDb, name: Switch, { on, ...stored }: StoredSwitch): void {
  storeSetting(db, name, { ...stored, value: on ? 'on' : 'off' });
}

function storeSetting(db: WritableDb, name: SettingName, stored: Stored & { readonly value: string }): void {
  const setting = { name, value: stored.value, changedAt: toTimestamp(stored.nowMs) };
  upsertSetting(db, setting.name, {
    value: setting.value,
    changed_at: setting.changedAt,
    mac: settingMac(stored.macKey, stored.homeId, setting),
    mac_key_id: stored.macKey.id,
  });
}
