import { identifier } from './chance';

export interface Run {
  readonly id: string;
  readonly trace_id: string;
  readonly parent_run_id?: string;
  readonly name: string;
  readonly run_type: 'chain' | 'llm' | 'retriever' | 'tool';
  readonly start_time: string;
  readonly end_time: string;
  readonly inputs: object;
  readonly outputs?: object;
  readonly error?: string;
  readonly extra: { readonly metadata: object };
  readonly [member: string]: unknown;
}

export interface Feedback {
  readonly id: string;
  readonly run_id: string;
  readonly trace_id: string;
  readonly key: string;
  readonly score: number;
  readonly comment?: string;
  readonly feedback_source: { readonly type: 'model' | 'app' | 'api'; readonly metadata: object };
}

/** A root run, the runs below it, and the feedback on the root. */
export interface Trace {
  readonly runs: readonly Run[];
  readonly feedback: readonly Feedback[];
}

export type Step = Pick<Run, 'name' | 'run_type' | 'inputs' | 'outputs' | 'error'> & {
  /** Milliseconds after the start of the trace. */
  readonly from: number;
  readonly to: number;
  readonly metadata?: object;
  /** Milliseconds after the start of the trace at which a model began to answer. */
  readonly firstToken?: number;
};

/** The runs of a trace: the first step is the root, and the others are below it. */
export function runsOf(id: string, at: number, mark: object, [root, ...steps]: readonly [Step, ...Step[]]): Run[] {
  const time = (ms: number) => new Date(at + ms).toISOString();
  const runOf = ({ from, to, metadata, firstToken, ...rest }: Step, own: string): Run => ({
    ...rest,
    id: own,
    trace_id: id,
    start_time: time(from),
    end_time: time(to),
    extra: { metadata: { ...mark, ...metadata } },
    ...(firstToken !== undefined && { events: [{ name: 'new_token', time: time(firstToken) }] }),
  });
  const below = steps.map((step, index) => ({
    ...runOf(step, identifier(id, step.name, index)),
    parent_run_id: id,
  }));
  return [runOf(root, id), ...below];
}

/** Tokens and their cost, for the outputs of a model. */
export function usage(read: number, written: number, [priceRead, priceWritten]: readonly [number, number]) {
  const cost = (tokens: number, price: number) => Number(((tokens * price) / 1e6).toFixed(8));
  const [input_cost, output_cost] = [cost(read, priceRead), cost(written, priceWritten)];
  return {
    input_tokens: read,
    output_tokens: written,
    total_tokens: read + written,
    input_cost,
    output_cost,
    total_cost: Number((input_cost + output_cost).toFixed(8)),
  };
}

/** Tokens of a text, as many as a tokenizer would make about. */
export function tokens(text: string): number {
  return Math.ceil(text.length / 4);
}
