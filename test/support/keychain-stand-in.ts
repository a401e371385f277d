import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { SafeStorage } from 'electron';
import type { DeskSafeStorage } from '../../src-main/shells/electron/electron-api.ts';

/** A keychain that really encrypts, under a password of its own; one whose password is given is the same system's again. */
export class StandInKeychain implements DeskSafeStorage {
  available = true;
  backend: ReturnType<SafeStorage['getSelectedStorageBackend']> = 'gnome_libsecret';
  /** Called before every use, so that a test can break one. */
  onUse: (use: 'seal' | 'unseal') => void = () => undefined;
  readonly password: Buffer;

  constructor(password: Buffer = randomBytes(32)) {
    this.password = password;
  }

  isEncryptionAvailable(): boolean {
    return this.available;
  }

  getSelectedStorageBackend(): ReturnType<SafeStorage['getSelectedStorageBackend']> {
    return this.backend;
  }

  encryptString(text: string): Buffer {
    this.onUse('seal');
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.password, nonce);
    const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), bytes]);
  }

  decryptString(sealed: Buffer): string {
    this.onUse('unseal');
    const cipher = createDecipheriv('aes-256-gcm', this.password, sealed.subarray(0, 12), { authTagLength: 16 });
    cipher.setAuthTag(sealed.subarray(12, 28));
    return Buffer.concat([cipher.update(sealed.subarray(28)), cipher.final()]).toString('utf8');
  }
}
