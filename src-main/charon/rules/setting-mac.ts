import { encodeCanonical } from '../../canonical/json.ts';
import { hmacSha256Hex, verifyHmacSha256Hex } from '../../canonical/signature.ts';
import type { MacKey } from './audit-entry.ts';

/** A security setting as its MAC sees it (`charon.md` §6: settings that matter for security live under the ledger's MAC). */
export interface SettingValue {
  readonly name: string;
  readonly value: string;
  readonly changedAt: string;
}

const settingBytes = (homeId: string, setting: SettingValue): string =>
  `charon/setting/v1\n${encodeCanonical({ changed_at: setting.changedAt, home_id: homeId, name: setting.name, value: setting.value })}`;

/** The MAC of a setting, bound to this home. */
export function settingMac(macKey: MacKey, homeId: string, setting: SettingValue): string {
  return hmacSha256Hex(macKey.key, settingBytes(homeId, setting));
}

/** True when the stored MAC is that of the setting under the key that it names. */
export function verifySetting(
  macKey: MacKey,
  homeId: string,
  setting: SettingValue,
  mac: string,
  macKeyId: string,
): boolean {
  return macKeyId === macKey.id && verifyHmacSha256Hex(macKey.key, settingBytes(homeId, setting), mac);
}
