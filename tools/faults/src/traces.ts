import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@fairlead/postgres';
import type { Client } from 'pg';
import { to } from 'pg-copy-streams';
import type { Installation } from './installation';

/** Bytes that were written down somewhere. */
interface Trace {
  readonly place: string;
  readonly bytes: Buffer;
}

/** Everything that an installation and its servers have written down. */
export async function* traces({ home, direct, log, output }: Installation): AsyncIterable<Trace> {
  const db = await connect(direct.DATABASE_URL!);
  try {
    for await (const bytes of tables(db)) yield { place: 'the database', bytes };
    await db.query('checkpoint');
  } finally {
    await db.end();
  }
  for (const bytes of files(home.data('servers/postgres'))) yield { place: 'the files of the database', bytes };
  for (const bytes of files(home.data('servers/kafka'))) yield { place: 'the files of Kafka', bytes };
  for (const bytes of files(home.data('servers/events'))) yield { place: 'the file of the event store', bytes };
  for (const event of await log.read()) {
    const text = JSON.stringify(event, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    yield { place: 'the log', bytes: Buffer.from(text) };
  }
  yield { place: 'the output', bytes: Buffer.from(output) };
}

/** All rows of every table in every schema, as COPY gives them. */
async function* tables(db: Client): AsyncIterable<Buffer> {
  const { rows } = await db.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname <> 'information_schema'`,
  );
  for (const { name } of rows) {
    const chunks: Buffer[] = [];
    for await (const chunk of db.query(to(`copy ${name} to stdout`))) chunks.push(chunk as Buffer);
    yield Buffer.concat(chunks);
  }
}

/** Every file at and below a path. */
function* files(path: string): Iterable<Buffer> {
  if (!existsSync(path)) return;
  if (statSync(path).isFile()) yield readFileSync(path);
  else if (statSync(path).isDirectory()) for (const name of readdirSync(path)) yield* files(join(path, name));
}
