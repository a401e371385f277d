import { existsSync } from 'node:fs';
import { connect } from '../sqlite/driver.ts';
import { findHomeId } from './tables/home.ts';

/**
 * The id of the home whose charon.db that is, read without opening the policy engine; undefined for a file that is missing, was
 * never started or cannot be read as one.
 */
export function readHomeId(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  try {
    const connection = connect(path, { readOnly: true, mustExist: true });
    try {
      return findHomeId(connection);
    } finally {
      connection.close();
    }
  } catch {
    return undefined;
  }
}
