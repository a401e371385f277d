/** The part of `write-file-atomic` that is used; the package carries no types of its own. */
declare module 'write-file-atomic' {
  /** Writes beside the file, flushes, renames over it: the old content or the new one is there, never half of it. */
  export function sync(
    path: string,
    data: string,
    options?: { readonly mode?: number; readonly fsync?: boolean },
  ): void;
}
