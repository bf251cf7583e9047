import type { ReactNode } from 'react';
import type { TraceLine } from '../../api/traces';
import { duration, figure, middle } from '../../ui/format';
import { Text, Time } from '../../ui/parts';
import { previewText } from '../../ui/values/readable';
import { Status } from '../../ui/status';

const MOST_CHARACTERS = 160;
const MOST_SCORES = 3;
const TONES = { success: 'ok', error: 'bad', pending: 'busy' } as const;
const WORDS = { success: 'ok', error: 'failed', pending: 'running' } as const;

interface Column {
  readonly title: string;
  /** Width as a track of a grid, and the pixels that it takes at least. */
  readonly width: readonly [track: string, least: number];
  readonly number?: boolean;
  readonly cell: (line: TraceLine) => ReactNode;
}

const text = (title: string, cell: Column['cell'], share = 2, least = 140): Column => ({
  ...{ title, cell, width: [`${share}fr`, least] },
});
const narrow = (title: string, least: number, cell: Column['cell'], number = false): Column => ({
  ...{ title, cell, number, width: [`${least}px`, least] },
});

/** Columns beside the name, by their names in an address. */
export const COLUMNS = {
  status: narrow('Status', 84, (line) => <RunStatus of={line.status} />),
  type: narrow('Type', 84, ({ run_type }) => <Text>{middle(run_type, 16)}</Text>),
  input: text('Input', ({ inputs_preview }) => <Preview json={inputs_preview} role="user" />),
  output: text('Output', ({ outputs_preview, error_preview }) =>
    error_preview === null ? <Preview json={outputs_preview} /> : <Cut>{error_preview}</Cut>,
  ),
  scores: text('Scores', ({ feedback }) => <Scores of={feedback} />, 1, 120),
  tags: text('Tags', ({ tags }) => <Cut>{tags.join(', ')}</Cut>, 1, 100),
  thread: text('Thread', ({ thread_id }) => <Cut>{thread_id ?? ''}</Cut>, 1, 100),
  latency: narrow('Latency', 72, ({ latency }) => duration(latency), true),
  tokens: narrow('Tokens', 72, ({ total_tokens }) => figure(total_tokens), true),
  cost: narrow('Cost', 84, ({ total_cost }) => figure(total_cost === null ? null : Number(total_cost)), true),
  started: narrow('Started', 72, ({ start_time }) => <Time at={start_time} />, true),
} as const satisfies Readonly<Record<string, Column>>;

export type ColumnName = keyof typeof COLUMNS;
const USUAL: readonly ColumnName[] = [
  ...(['status', 'input', 'output', 'scores', 'latency', 'tokens', 'cost', 'started'] as const),
];

/** The columns that an address names, in their usual order. */
export function columnsOf(names: string | undefined): readonly ColumnName[] {
  if (names === undefined) return USUAL;
  const given = names.split(',');
  return (Object.keys(COLUMNS) as ColumnName[]).filter((name) => given.includes(name));
}

/** Status of a run. */
export function RunStatus({ of }: { of: TraceLine['status'] }) {
  return <Status tone={TONES[of]}>{WORDS[of]}</Status>;
}

/** The beginning of JSON as one line of text. */
export function Preview({ json, role }: { json: string | null; role?: string }) {
  return <Cut>{previewText(json ?? '', role)}</Cut>;
}

function Cut({ children }: { children: string }) {
  return <Text>{children.slice(0, MOST_CHARACTERS)}</Text>;
}

function Scores({ of }: { of: TraceLine['feedback'] }) {
  const all = Object.entries(of);
  const shown = all.slice(0, MOST_SCORES).map(([key, mean]) => `${middle(key, 24)} ${figure(mean)}`);
  return <Text>{[...shown, ...(all.length > MOST_SCORES ? ['…'] : [])].join(', ')}</Text>;
}
