import type { Schemas } from '../../api/client';
import { printLossless } from '../../api/lossless';
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
    <div className={css.scroll} tabIndex={0} role="region" aria-label="Examples">
      <table className={`${css.table} ${css.fixed}`}>
        <thead>
          <tr>
            <th>Input</th>
            <th>Reference</th>
          </tr>
        </thead>
        <tbody>
          {examples.map(({ id, inputs, outputs }) => (
            <tr key={id}>
              <td className={css.code}>
                <Text>{preview(inputs)}</Text>
              </td>
              <td className={css.code}>
                <Text>{preview(outputs)}</Text>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function preview(value: unknown): string {
  return printLossless(value ?? null, 0)
    .replaceAll(/\s+/g, ' ')
    .slice(0, MOST_CHARACTERS);
}
