import { parse } from 'csv-parse/sync';
import { type Answered, type Of, rounded } from './asked';
import { RowAnswers, type Row, rowsOf, scoreOf } from './compared-rows';
import { latencyOf, sortedBy } from './statistics';
import { iso, type Members, micros, type Run, WRITERS } from './things';

const KEYS = ['label', 'pass', 'quality'] as const;

/** Contents of an export. In CSV, JSON is text as it was sent; in lines of JSON it is read. */
export class ExportAnswers extends RowAnswers<Of<'export'>> {
  async actual(query: Of<'export'>): Promise<unknown> {
    const sessions = this.compared(query);
    const { format = 'jsonl' } = query;
    const path = `/api/v1/datasets/${sessions[0]!.dataset}/compare/export?${this.comparisonParameters(query)}&format=${format}`;
    const response = await this.installation.fetch('GET', path);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`GET ${path} answered ${response.status}: ${text}`);
    const names = sessions.map(({ name }) => name);
    const lines = format === 'csv' ? csvLines(text, names) : jsonLines(text, names);
    return { ...this.inOrder(query, [...new Set(lines.map(({ example }) => example))]), lines: inOrder(lines) };
  }

  expected(query: Of<'export'>): unknown {
    const rows = this.chosenRows(query);
    const rank = this.rankOf(query);
    const worst = new Map(rowsOf(this.compared(query)).map((row) => [row.example, row]));
    const json = (value: Members, writer: number) => (query.format === 'csv' ? WRITERS[writer]!(value) : value);
    const shown = (run: Run | undefined, count: number) => ({
      ...{ id: run?.id ?? null, runs: count, status: run ? (run.error === null ? 'success' : 'error') : null },
      ...{ start: run?.start ?? null, latency: run ? latencyOf(run) : null, error: run?.error ?? null },
      outputs: run?.outputs ? json(run.outputs, run.writer) : null,
      metadata: run?.metadata ?? null,
      ...givenTo(run),
    });
    const line = ({ example, runs }: Row, place: number) => {
      const { inputs, row, writer } = runs.flat()[0]!;
      const regression = this.worstOf(worst, runs, runs.length);
      return {
        ...{ example, repetition: place + 1, inputs: json(inputs, writer), reference: json({ row: row! }, writer) },
        ...rounded({ regression }),
        runs: runs.map((own) => shown(own[place], own.length)),
      };
    };
    return {
      examples: rows.map(({ example }) => example).sort(),
      ranks: sortedBy(
        rows.map(({ example }) => rank(example)),
        [(one) => one, true],
      ),
      lines: inOrder(
        rows.flatMap((row) =>
          Array.from({ length: Math.max(...row.runs.map(({ length }) => length)) }, (_, place) => line(row, place)),
        ),
      ),
    };
  }
}

/** Feedback of a run by key; that of one time may come in any order. */
function givenTo(run: Run | undefined) {
  const texts = (of: (one: Run['feedback'][number]) => unknown) =>
    KEYS.map((key) =>
      (run?.feedback ?? [])
        .filter((one) => one.key === key && of(one) !== null)
        .map((one) => String(of(one)))
        .sort(),
    );
  return {
    scores: KEYS.map((key) => (run ? (scoreOf([run], key) ?? null) : null)),
    values: texts(({ value }) => value),
    comments: texts(({ comment }) => comment),
  };
}

function inOrder<T extends { readonly example: string; readonly repetition: number }>(lines: readonly T[]): T[] {
  return sortedBy(lines, [({ example }) => example, false], [({ repetition }) => repetition, false]);
}

function jsonLines(text: string, names: readonly string[]) {
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Answered => JSON.parse(line));
  return lines.map((line) => ({
    ...{ example: line.example_id as string, repetition: line.repetition as number },
    ...{ inputs: line.inputs, reference: line.reference_outputs, ...rounded({ regression: line.regression }) },
    runs: line.experiments.map((one: Answered, place: number) => {
      if (one.name !== names[place]) throw new Error(`The experiment is ${one.name}, not ${names[place]}.`);
      const texts = (of: 'value' | 'comment') =>
        KEYS.map((key) =>
          (one.feedback ?? [])
            .filter((given: Answered) => given.key === key && given[of] !== null)
            .map((given: Answered) => String(given[of]))
            .sort(),
        );
      return {
        ...{ id: one.run_id, runs: one.runs, status: one.status ?? null, start: timeOf(one.start_time) },
        ...{ latency: one.latency_seconds ?? null, error: one.error ?? null, outputs: one.outputs ?? null },
        ...{ metadata: one.metadata ?? null, scores: KEYS.map((key) => one.scores?.[key] ?? null) },
        ...{ values: texts('value'), comments: texts('comment') },
      };
    }),
  }));
}

function csvLines(text: string, names: readonly string[]) {
  const lines = parse<Readonly<Record<string, string>>>(text, { columns: true, record_delimiter: '\r\n' });
  const orNull = (cell: string | undefined) => (cell === undefined || cell === '' ? null : cell);
  const numberOf = (cell: string | undefined) => (orNull(cell) === null ? null : Number(cell));
  return lines.map((line) => ({
    ...{ example: line.example_id!, repetition: Number(line.repetition), inputs: line.inputs },
    ...{ reference: line.reference_outputs, ...rounded({ regression: numberOf(line.regression) }) },
    runs: names.map((name) => {
      const cell = (column: string) => line[names.length > 1 ? `${name}: ${column}` : column];
      const texts = (kind: string) => KEYS.map((key) => (orNull(cell(`${kind} ${key}`))?.split('; ') ?? []).sort());
      const metadata = orNull(cell('metadata'));
      return {
        ...{ id: orNull(cell('run_id')), runs: Number(cell('runs')), status: orNull(cell('status')) },
        ...{ start: timeOf(orNull(cell('start_time'))), latency: numberOf(cell('latency_seconds')) },
        ...{ error: orNull(cell('error')), outputs: orNull(cell('outputs')) },
        metadata: metadata === null ? null : (JSON.parse(metadata) as Members),
        ...{ scores: KEYS.map((key) => numberOf(cell(`score ${key}`))) },
        ...{ values: texts('value'), comments: texts('comment') },
      };
    }),
  }));
}

function timeOf(text: string | null | undefined): string | null {
  return text ? iso(micros(text)) : null;
}
