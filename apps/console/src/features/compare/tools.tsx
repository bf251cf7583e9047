import type { ReactNode } from 'react';
import type { Comparison } from '../../api/client';
import { Typed } from '../../ui/form';
import { plain } from '../../ui/format';
import css from './compare.module.css';
import type { KeyComparison } from './data';

interface ToolsProps {
  readonly others: Comparison['experiments'];
  readonly candidate: Comparison['experiments'][number] | undefined;
  readonly focus: KeyComparison | undefined;
  readonly sort: string | undefined;
  readonly wholeTexts: boolean;
  /** Text that the shown rows contain. */
  readonly text: string;
  readonly searchable: boolean;
  /** Where a candidate got worse. */
  readonly worst: ReactNode;
  /** Where the rows can be had as files; undefined where a browser cannot ask for them. */
  readonly files: Readonly<Record<'csv' | 'jsonl', string>> | undefined;
  readonly onChange: (change: Partial<Record<'candidate' | 'sort' | 'texts' | 'q', string | undefined>>) => void;
}

/** Which candidate the keys go by, in which order the rows stand, and where their texts begin. */
export function Tools(props: ToolsProps) {
  const { others, candidate, focus, sort, wholeTexts, text, searchable, worst, files, onChange } = props;
  const filter = searchable && (
    <Typed label="Rows that hold this text" main value={text} onChange={(q) => onChange({ q: q || undefined })} />
  );
  const saved = files && (
    <span className={css.files}>
      Export{' '}
      <a href={files.csv} download>
        CSV
      </a>
      <a href={files.jsonl} download>
        JSON Lines
      </a>
    </span>
  );
  if (!candidate) {
    return (
      <div className={css.tools}>
        {filter}
        {saved}
      </div>
    );
  }
  const orders = {
    '': 'largest regression first',
    improvement: 'largest improvement first',
    ...(focus && { [`difference:${candidate.id}:${focus.key}`]: `${candidate.name}: worst on ${focus.key} first` }),
    [`latency:${candidate.id}`]: `${candidate.name}: slowest first`,
    row: 'as they were uploaded',
  };
  const known = sort === undefined || sort in orders;
  return (
    <div className={css.tools}>
      {filter}
      {others.length > 1 && (
        <Select
          label="Candidate"
          value={candidate.id}
          options={Object.fromEntries(others.map(({ id, name }) => [id, name]))}
          onChange={(id) => onChange({ candidate: id })}
        />
      )}
      <Select
        label="Order"
        value={sort ?? ''}
        options={known ? orders : { ...orders, [sort]: 'as the address says' }}
        onChange={(order) => onChange({ sort: order || undefined })}
      />
      <Select
        label="Outputs"
        value={wholeTexts ? 'whole' : ''}
        options={{ '': 'from their difference', whole: 'from their beginning' }}
        onChange={(texts) => onChange({ texts: texts || undefined })}
      />
      {worst}
      {saved}
    </div>
  );
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly options: Readonly<Record<string, string>>;
  readonly onChange: (value: string) => void;
}

function Select({ label, value, options, onChange }: SelectProps) {
  return (
    <label>
      {label}{' '}
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {Object.entries(options).map(([key, text]) => (
          <option key={key} value={key}>
            {plain(text)}
          </option>
        ))}
      </select>
    </label>
  );
}
