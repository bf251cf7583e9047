import { HttpProblem, type Loc, type Problem, Problems, Unprocessable } from '@fairlead/schema';

export const REFUSED_KINDS = ['run', 'feedback', 'attachment', 'part'] as const;
export type RefusedKind = (typeof REFUSED_KINDS)[number];

/** One item of a request that was not stored, and the answer that it would have got alone. It can cross threads. */
export interface Refusal {
  readonly kind: RefusedKind;
  readonly id: string | null;
  readonly loc: Loc;
  readonly status: number;
  readonly code: string;
  readonly detail: string | readonly Problem[];
  readonly headers: Readonly<Record<string, string>>;
  readonly sessionId?: string;
  readonly sessionName?: string;
  readonly runId?: string;
}

/** Where a refused item stands, and what is known of it. */
type Refused = Pick<Refusal, 'kind' | 'id' | 'loc' | 'sessionId' | 'sessionName' | 'runId'>;

const MOST_LISTED = 1000;
const MOST_TEXT = 300;

export function refusal(of: Refused, error: unknown): Refusal {
  if (!(error instanceof HttpProblem) || error.status >= 500 || error.status === 429) throw error;
  const { status, name: code, detail, headers } = error;
  const loc = of.loc.map((step) => (typeof step === 'string' ? clipped(step) : step));
  const { kind, id, sessionId, sessionName, runId } = of;
  const project = { sessionId, sessionName: sessionName && clipped(sessionName), runId };
  return { kind, id: id === null ? null : clipped(id), loc, status, code, detail, headers, ...project };
}

export function reasonOf({ loc, detail }: Refusal): { readonly loc: Loc; readonly msg: string } {
  if (typeof detail === 'string') return { loc, msg: clipped(detail) };
  const [first, ...more] = detail;
  if (!first) return { loc, msg: 'The item is not valid.' };
  const error = first.type === 'json_invalid' && first.ctx?.error;
  const msg = typeof error === 'string' ? `${first.msg}: ${error}` : first.msg;
  const others = more.length > 0 ? ` (and ${more.length} more ${more.length === 1 ? 'problem' : 'problems'})` : '';
  return { loc: isWithin(first.loc, loc) ? first.loc : loc, msg: clipped(msg) + others };
}

export function refusedList(refusals: readonly Refusal[]): { id: string | null; loc: Loc; msg: string }[] {
  const listed = refusals.slice(0, MOST_LISTED).map((one) => ({ id: one.id, ...reasonOf(one) }));
  const more = refusals.length - listed.length;
  if (more > 0) listed.push({ id: null, loc: ['body'], msg: `${more} more are not listed.` });
  return listed;
}

/**
 * Returns the answer to a request of which nothing was stored: the status that all refused items have in common, with
 * the sentence of the first, and else 422 with the problems of all. A batch also lists the refused items.
 */
export function nothingStored(refusals: readonly Refusal[], isBatch: boolean): HttpProblem {
  const [{ status, code, detail, headers }] = refusals as [Refusal];
  const members = isBatch ? { refused: refusedList(refusals) } : {};
  const isAlike = refusals.every((other) => other.status === status);
  if (isAlike && (refusals.length === 1 || typeof detail === 'string')) {
    return named(code, new HttpProblem(status, detail, { headers, members }));
  }
  const problems = new Problems();
  for (const { loc, id, detail: own } of refusals) {
    if (typeof own === 'string') problems.add({ type: 'value_error', loc, msg: own, input: id });
    else own.forEach((problem) => problems.add(isWithin(problem.loc, loc) ? problem : { ...problem, loc }));
  }
  const counted = { 'x-error-count': String(problems.total) };
  return named(Unprocessable.name, new HttpProblem(422, problems.list(), { headers: counted, members }));
}

function named(name: string, problem: HttpProblem): HttpProblem {
  return Object.assign(problem, { name });
}

function isWithin(loc: Loc, outer: Loc): boolean {
  return outer.every((step, at) => loc[at] === step);
}

function clipped(text: string): string {
  const short = text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text;
  // Halves of surrogate pairs become U+FFFD.
  return Buffer.from(short.replaceAll('\0', '\ufffd')).toString();
}
