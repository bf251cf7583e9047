import { memberSlices, present } from '@fairlead/blobs';

export interface Usage {
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly total_tokens: number | null;
  readonly prompt_cost: string | null;
  readonly completion_cost: string | null;
  readonly total_cost: string | null;
}

export const USAGE_MEMBERS = [
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'prompt_cost',
  'completion_cost',
  'total_cost',
] as const;

/** Usage as PostgreSQL gives it: decimal texts. */
export type UsageTexts = Readonly<Record<keyof Usage, string | null>>;

const NAME = Buffer.from('usage_metadata');
/** Longer ones are no counts. */
const MOST_BYTES = 64 * 1024;
const MOST_COST = 1e12;
const LEAST_COST = 1e-12;
const NOTHING: Readonly<Record<string, unknown>> = {};

type Json = string | null | undefined;

/** Tokens and costs in a run or a change of one: from `usage_metadata` of the outputs, else of the metadata. */
export function usageOf({ outputs, extra }: { readonly outputs?: Json; readonly extra?: Json }): Usage {
  const given = usageMetadata(outputs) ?? usageMetadata(memberText(extra, 'metadata')) ?? NOTHING;
  const tokens = (name: string) => count(given[`${name}_tokens`]);
  const cost = (name: string) => amount(given[`${name}_cost`]);
  const [prompt, completion] = [tokens('input'), tokens('output')];
  const [promptCost, completionCost] = [cost('input'), cost('output')];
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: tokens('total') ?? count(sum(prompt, completion)),
    prompt_cost: decimal(promptCost),
    completion_cost: decimal(completionCost),
    total_cost: decimal(cost('total') ?? sum(promptCost, completionCost)),
  };
}

/** As {@link usageOf}, of a row whose members are bytes; null for most rows, which say nothing of it. */
export function usageInBytes(outputs: Buffer | null, extra: Buffer | null): Usage | null {
  const [ofOutputs, ofExtra] = [outputs, extra].map((json) => (json?.includes(NAME) ? json.toString() : undefined));
  return ofOutputs === undefined && ofExtra === undefined ? null : usageOf({ outputs: ofOutputs, extra: ofExtra });
}

function usageMetadata(json: Json): Readonly<Record<string, unknown>> | undefined {
  const text = memberText(json, 'usage_metadata');
  if (!text?.startsWith('{') || text.length > MOST_BYTES) return undefined;
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}

/** The member of an object as text; undefined when it is absent or null, and of what is no object. */
function memberText(json: Json, name: string): string | undefined {
  if (!json?.trimStart().startsWith('{') || !json.includes(name)) return undefined;
  return present(memberSlices(Buffer.from(json)).get(name))?.toString('utf8');
}

function count(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
}

/** Numbers, also as text: libraries for decimals send them so. */
function amount(value: unknown): number | null {
  const cost = typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  return typeof cost === 'number' && cost >= 0 && cost <= MOST_COST ? cost : null;
}

function decimal(cost: number | null): string | null {
  return cost === null ? null : String(cost < LEAST_COST ? 0 : cost);
}

function sum(one: number | null, other: number | null): number | null {
  return one === null && other === null ? null : Number(((one ?? 0) + (other ?? 0)).toPrecision(15));
}

/** SQL: whether a run `r` itself says what it used. */
export const says = (run: string) => `(${run}.total_tokens is not null or ${run}.total_cost is not null)`;

/** SQL: the columns of a usage over runs `u`. */
export const USAGE_SUMS = USAGE_MEMBERS.map((name) => `trim_scale(sum(u.${name})) as ${name}`).join(', ');

/**
 * SQL: that a run `u` of the workspace says what it used, and no run above it says so already for both, as far as that is
 * the parent or the root of its trace. `above` narrows which runs `p` count as above.
 */
export function counted(tenant: string, above = 'true'): string {
  return `${says('u')} and not exists (select 1 from runs p where p.tenant_id = ${tenant}
    and p.id in (u.parent_run_id, u.trace_id) and p.id <> u.id and ${says('p')} and ${above})`;
}

/**
 * SQL: a lateral table `used` with the usage of a run `r` of the workspace: what it says, or what the runs below a root
 * say.
 */
export const runUsage = (tenant: string) => `lateral (
  select ${USAGE_MEMBERS.map((name) => `r.${name}::numeric`).join(', ')} where ${says('r')} or r.parent_run_id is not null
  union all
  select ${USAGE_SUMS} from runs u
  where not ${says('r')} and r.parent_run_id is null and u.trace_id = r.id and u.tenant_id = ${tenant}
    and u.session_id = r.session_id and ${counted(tenant)} having not ${says('r')} and r.parent_run_id is null
) as used (${USAGE_MEMBERS.join(', ')})`;
