import type { Schemas } from '../../api/client';
import { printLossless } from '../../api/lossless';
import { List } from '../../ui/list';
import { Text } from '../../ui/parts';
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

/** The beginning of JSON, on one line. */
export function Preview({ of }: { of: unknown }) {
  return (
    <span className={css.code}>
      <Text>{preview(of)}</Text>
    </span>
  );
}

function preview(value: unknown): string {
  return printLossless(value ?? null, 0)
    .replaceAll(/\s+/g, ' ')
    .slice(0, MOST_CHARACTERS);
}
