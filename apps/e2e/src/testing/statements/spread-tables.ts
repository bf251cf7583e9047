import { escapeLiteral, type PoolClient } from 'pg';
import type { Statement } from './recorded-statements';

/** Tables that grow with use. */
export const SPREAD: readonly string[] = [
  ...['runs', 'feedback', 'replaced_runs', 'replaced_feedback', 'run_attachments', 'refused_items', 'sessions'],
  ...['datasets', 'examples', 'comparative_experiments', 'shares', 'share_links', 'audit_log', 'payloads'],
  ...['session_run_bytes', 'stored_bytes', 'stored_run_bytes', 'feedback_changes', 'feedback_configs'],
  ...['awaited_feedback', 'untold_feedback', 'payload_sessions', 'payload_datasets'],
  ...['payload_chunks', 'dataset_versions', 'dataset_tags', 'run_batches', 'stored_run_batches'],
  ...['trace_counts', 'trace_recounts', 'persisted_experiments'],
  ...['webhook_deliveries', 'rollout_logs', 'deployment_metrics', 'monitors'],
];

/** Tables of which some rows have no workspace until they are filled: PostgreSQL stores these in the first partition. */
const FILLING: ReadonlySet<string> = new Set([
  ...['payload_chunks', 'dataset_versions', 'dataset_tags', 'persisted_experiments'],
  ...['webhook_deliveries', 'rollout_logs'],
]);

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
    for (const table of SPREAD) {
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
      for (const { columns } of rows) await client.query(`create unique index on ${spread} (${columns})`);
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
    const query = /^\s*copy \((.*)\) to stdout/is.exec(text)?.[1] ?? text;
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

function severalOf(plan: Plan): string[] {
  const read = new Map<string, Set<string>>();
  const found: string[] = [];
  const walk = (node: Plan) => {
    const { 'Relation Name': name = '', Alias: alias = '', Plans: plans = [], 'Subplans Removed': removed } = node;
    const [, table, part] = /^(.+)_p(\d)$/.exec(name) ?? [];
    if (table !== undefined && SPREAD.includes(table) && !(FILLING.has(table) && part === '0')) {
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
