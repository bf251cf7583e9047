import { escapeLiteral, type PoolClient } from 'pg';
import type { Statement } from './recorded-statements';

/**
 * Tables that grow with use, and the keys that they have beside those that begin with the workspace: with it in front,
 * they are those that the tables are going to have.
 */
export const SPREAD: Readonly<Record<string, readonly string[]>> = {
  ...{ runs: ['id'], feedback: ['id'], replaced_runs: ['id'], replaced_feedback: ['id'] },
  ...{ sessions: ['id'], datasets: ['id'], examples: ['id, dataset_id, valid_from'], comparative_experiments: ['id'] },
  ...{ shares: ['id'], share_links: ['id'], audit_log: ['id'], session_run_bytes: ['session_id'] },
  ...{ payloads: ['id'], stored_bytes: [], stored_run_bytes: [], refused_items: [], run_attachments: [] },
  ...{ feedback_changes: [], feedback_configs: [], awaited_feedback: [], untold_feedback: [] },
  ...{ payload_sessions: [], payload_datasets: [] },
};

const PARTITIONS = 4;
const SQL = /^\s*(with|select|insert|update|delete)\b/i;

interface Plan {
  readonly 'Relation Name'?: string;
  readonly Alias?: string;
  readonly Plans?: readonly Plan[];
  readonly 'Subplans Removed'?: number;
}

/** Copies of the tables that grow with use, in a schema of their own, partitioned by the workspace. */
export class SpreadTables {
  private constructor(private readonly client: PoolClient) {}

  static async create(client: PoolClient): Promise<SpreadTables> {
    await client.query('create schema spread');
    for (const [table, keys] of Object.entries(SPREAD)) {
      const spread = `spread.${table}`;
      await client.query(
        `create table ${spread} (like public.${table} including defaults including generated) partition by hash (tenant_id)`,
      );
      for (let part = 0; part < PARTITIONS; part++) {
        const rows = `for values with (modulus ${PARTITIONS}, remainder ${part})`;
        await client.query(`create table ${spread}_p${part} partition of ${spread} ${rows}`);
      }
      const { rows } = await client.query<{ columns: string }>(
        `select string_agg(attname, ', ' order by place) as columns
         from pg_index cross join unnest(indkey) with ordinality as k (number, place)
           join pg_attribute on attrelid = indrelid and attnum = number
         where indrelid = $1::regclass and indisunique and indpred is null
         group by indexrelid having bool_or(attname = 'tenant_id')`,
        [`public.${table}`],
      );
      for (const columns of [...rows.map((row) => row.columns), ...keys.map((key) => `tenant_id, ${key}`)])
        await client.query(`create unique index on ${spread} (${columns})`);
    }
    // Values do not take away what a statement does for others.
    await client.query('set plan_cache_mode = force_generic_plan');
    await client.query('set search_path = spread, public');
    return new SpreadTables(client);
  }

  /**
   * Returns the relations of a statement, as `table alias`, of which it reads more than the rows of one workspace, or the
   * message of PostgreSQL when it cannot be planned. A workspace that is null is none: then nothing would be read.
   */
  async spread({ text, values }: Statement): Promise<string[]> {
    const later = withLaterKeys(text);
    const query = /^\s*copy \((.*)\) to stdout/is.exec(later)?.[1] ?? later;
    if (!SQL.test(query)) return [];
    await this.client.query('begin');
    try {
      await this.client.query(`prepare examined as ${query}`);
      const given = values.length > 0 ? `(${values.map(literal).join(', ')})` : '';
      const { rows } = await this.client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `explain (format json, costs off) execute examined${given}`,
      );
      return severalOf(rows[0]!['QUERY PLAN'][0].Plan);
    } catch (error) {
      return [(error as Error).message];
    } finally {
      await this.client.query('rollback');
      await this.client.query('deallocate all');
    }
  }
}

function literal(value: unknown): string {
  const sent = textOf(value);
  return sent === null ? 'null' : escapeLiteral(sent);
}

/** The text that PostgreSQL reads a parameter from. */
function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return `{${value.map(itemOf).join(',')}}`;
  if (typeof value === 'string' || typeof value === 'bigint') return String(value);
  return JSON.stringify(value);
}

function itemOf(value: unknown): string {
  const text = textOf(value);
  return text === null || Array.isArray(value) ? (text ?? 'null') : `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** A statement that waits for a key names the one of today. */
function withLaterKeys(text: string): string {
  const table = /\binsert into (\w+)/.exec(text)?.[1] ?? '';
  const key = SPREAD[table]?.[0];
  return key === undefined ? text : text.replace(`on conflict (${key})`, `on conflict (tenant_id, ${key})`);
}

function severalOf(plan: Plan): string[] {
  const read = new Map<string, Set<string>>();
  const found: string[] = [];
  const walk = (node: Plan) => {
    const { 'Relation Name': name = '', Alias: alias = '', Plans: plans = [], 'Subplans Removed': removed } = node;
    const [, table, part] = /^(.+)_p(\d)$/.exec(name) ?? [];
    if (table !== undefined && table in SPREAD) {
      const relation = `${table} ${alias.replace(/_\d+$/, '')}`;
      read.set(relation, (read.get(relation) ?? new Set()).add(part!));
    }
    if (removed === PARTITIONS) found.push('a workspace that is null');
    plans.forEach(walk);
  };
  walk(plan);
  for (const [relation, parts] of read) if (parts.size > 1) found.push(relation);
  const all = new Set([...read.values()].flatMap((parts) => [...parts]));
  return found.length === 0 && all.size > 1 ? ['several workspaces'] : found;
}
