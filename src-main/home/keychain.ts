/** The keychain of the system, as the process that has a window reaches it. Texts only; what is sealed is base64. */
export interface Keychain {
  /** Why it cannot be used now, a sentence for people; undefined when it can. Never rejects. */
  whyUnavailable(): Promise<string | undefined>;
  /** Seals a text for this user on this system. Rejects with a Fault KEYCHAIN_UNAVAILABLE. */
  seal(text: string): Promise<string>;
  /** The text again. Rejects with a Fault KEYCHAIN_UNAVAILABLE when it cannot be opened here. */
  unseal(sealed: string): Promise<string>;
}

/** What is said where there is no window: keychains are reached by the desk alone. */
export const noKeychain =
  'Only the window of the desk reaches the keychain of this system. Start Memory Git with its window.';
