import type { TraceLine } from '../../api/traces';
import type { Column } from '../../ui/columns/list-columns';
import { duration, figure, middle } from '../../ui/format';
import { Text, Time } from '../../ui/parts';
import { previewText } from '../../ui/values/readable';
import { Status } from '../../ui/status';

const MOST_CHARACTERS = 160;
const MOST_SCORES = 3;
const TONES = { success: 'ok', error: 'bad', pending: 'busy' } as const;
const WORDS = { success: 'ok', error: 'failed', pending: 'running' } as const;

/** A column of a list of root runs. */
export interface TraceColumn extends Column<TraceLine> {
  /** Width as a track of a grid, and the pixels that it takes at least. */
  readonly width: readonly [track: string, least: number];
}

const text = (id: string, title: string, cell: TraceColumn['cell'], share = 2, least = 152): TraceColumn => ({
  ...{ id, title, cell, width: [`${share}fr`, least] },
});
const narrow = (id: string, title: string, least: number, cell: TraceColumn['cell']): TraceColumn => ({
  ...{ id, title, cell, width: [`${least}px`, least] },
});
const number = (...of: Parameters<typeof narrow>): TraceColumn => ({ ...narrow(...of), kind: 'number' });
const hidden = (column: TraceColumn): TraceColumn => ({ ...column, hidden: true });

/** Columns beside the name, which can be chosen. */
export const COLUMNS: readonly TraceColumn[] = [
  narrow('status', 'Status', 96, (line) => <RunStatus of={line.status} />),
  hidden(narrow('type', 'Type', 96, ({ run_type }) => <Text>{middle(run_type, 16)}</Text>)),
  text('input', 'Input', ({ inputs_preview, inputs_turn }) => (
    <Preview json={inputs_preview} turn={inputs_turn} role="user" />
  )),
  text('output', 'Output', ({ outputs_preview, outputs_turn, error_preview }) =>
    error_preview === null ? <Preview json={outputs_preview} turn={outputs_turn} /> : <Cut>{error_preview}</Cut>,
  ),
  text('scores', 'Scores', ({ feedback }) => <Scores of={feedback} />, 1, 132),
  hidden(text('tags', 'Tags', ({ tags }) => <Cut>{tags.join(', ')}</Cut>, 1, 112)),
  hidden(text('thread', 'Thread', ({ thread_id }) => <Cut>{thread_id ?? ''}</Cut>, 1, 112)),
  number('latency', 'Latency', 84, ({ latency }) => duration(latency)),
  number('tokens', 'Tokens', 84, ({ total_tokens }) => figure(total_tokens)),
  number('cost', 'Cost', 96, ({ total_cost }) => figure(total_cost === null ? null : Number(total_cost))),
  number('started', 'Started', 96, ({ start_time }) => <Time at={start_time} />),
];

/** Status of a run. */
export function RunStatus({ of }: { of: TraceLine['status'] }) {
  return <Status tone={TONES[of]}>{WORDS[of]}</Status>;
}

interface PreviewProps {
  readonly json: string | null;
  /** The last turn, where it is a conversation. */
  readonly turn?: TraceLine['inputs_turn'];
  readonly role?: string;
}

/** The beginning of JSON as one line of text. */
export function Preview({ json, turn, role }: PreviewProps) {
  return <Cut>{turn ? turn.text.replaceAll(/\s+/g, ' ') : previewText(json ?? '', role)}</Cut>;
}

function Cut({ children }: { children: string }) {
  return <Text>{children.slice(0, MOST_CHARACTERS)}</Text>;
}

function Scores({ of }: { of: TraceLine['feedback'] }) {
  const all = Object.entries(of);
  const shown = all.slice(0, MOST_SCORES).map(([key, mean]) => `${middle(key, 24)} ${figure(mean)}`);
  return <Text>{[...shown, ...(all.length > MOST_SCORES ? ['…'] : [])].join(', ')}</Text>;
}
