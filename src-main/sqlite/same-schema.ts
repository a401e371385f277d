import { type Connection, connect, type ReadableDb } from './driver.ts';
import { type Migration, migrate } from './migrate.ts';

/**
 * Where the schema of a database is not the one that these steps make, each in one sentence: a table, index or trigger that is
 * missing, different or too many. Names are the file's own and may be anybody's, so that only our own are said.
 */
export function findStrangeSchema(db: ReadableDb, migrations: readonly Migration[]): readonly string[] {
  const wanted = readSchema(migrations);
  const found = schemaOf(db);
  const problems: string[] = [];
  for (const [name, sql] of wanted)
    if (found.get(name) !== sql) problems.push(`${name} is ${found.has(name) ? 'not as it was made' : 'missing'}`);
  const more = [...found.keys()].filter((name) => !wanted.has(name)).length;
  if (more > 0) problems.push(`it holds ${more} ${more === 1 ? 'thing' : 'things'} that no version of it made`);
  return problems;
}

/** The schema of a new database with these steps applied. */
function readSchema(migrations: readonly Migration[]): ReadonlyMap<string, string> {
  const connection: Connection = connect(':memory:', { readOnly: false, mustExist: false });
  try {
    migrate(connection, migrations, { nowMs: () => 0 });
    return schemaOf(connection);
  } finally {
    connection.close();
  }
}

function schemaOf(db: ReadableDb): ReadonlyMap<string, string> {
  const rows = db
    .query<[], { type: string; name: string; sql: string | null }>(
      "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name",
    )
    .all();
  return new Map(rows.map(({ type, name, sql }) => [`the ${type} ${name}`, sql ?? '']));
}
