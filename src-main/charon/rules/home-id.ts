import { assert } from '../../base/assert.ts';

/** A UUIDv4 of 16 random bytes (RFC 9562 §5.4). */
export function formatHomeId(random: Buffer): string {
  assert(random.length === 16, 'a home id is made of 16 random bytes');
  const bytes = Buffer.from(random);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
