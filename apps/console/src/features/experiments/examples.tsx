import type { Schemas } from '../../api/client';
import { printLossless } from '../../api/lossless';
import { List } from '../../ui/list';
import { Text } from '../../ui/parts';
import { flatText } from '../../ui/values/readable';
import css from './experiments.module.css';

const MOST_CHARACTERS = 400;

/** Inputs and reference outputs of examples, a line for each. */
export function ExampleList({
  examples,
}: {
  examples: readonly Pick<Schemas['Example'], 'id' | 'inputs' | 'outputs'>[];
}) {
  return (
    <List
      label="Examples"
      items={examples}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Input', kind: 'wide', cell: ({ inputs }) => <Preview of={inputs} /> },
        { title: 'Reference', kind: 'wide', cell: ({ outputs }) => <Preview of={outputs} /> },
      ]}
    />
  );
}

/** The beginning of inputs or outputs as text, as a comparison shows them. */
export function Preview({ of }: { of: unknown }) {
  return <Text>{flatText(beginning(of)).slice(0, MOST_CHARACTERS)}</Text>;
}

/** The beginning of JSON, on one line. */
export function JsonPreview({ of }: { of: unknown }) {
  return (
    <span className={css.code}>
      <Text>{beginning(of).slice(0, MOST_CHARACTERS)}</Text>
    </span>
  );
}

function beginning(value: unknown): string {
  return printLossless(value ?? null, 0)
    .replaceAll(/\s+/g, ' ')
    .slice(0, 2 * MOST_CHARACTERS);
}
