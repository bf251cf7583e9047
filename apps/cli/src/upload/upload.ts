import { basename } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import type { Answer } from '../api/api';
import type { Context } from '../api/context';
import { csvRows } from './csv.rows';
import { Refusal, Usage } from '../failure';
import { ImportReport } from './import-report';
import { jsonRows } from './json.rows';
import type { RowOptions } from './mapping';
import { problemLines, rowsAtFault } from '../api/problems';
import { type BodyOptions, type FileRow, uploadBody } from './upload-body';
import type { UploadFile } from './upload.file';
import { UploadProgress } from './upload.progress';

interface SendOptions {
  /** The id of the experiment that is to be filled; undefined for an experiment of its own. */
  readonly into: string | undefined;
  /** Options for making a body of rows; undefined when the file is one. */
  readonly body: BodyOptions | undefined;
  /** Options for reading the rows. */
  readonly rows: Omit<RowOptions, 'report'>;
  /** Between the columns of CSV; found out when absent. */
  readonly delimiter: string | undefined;
  /** True to refuse a file of which something is left out. */
  readonly strict: boolean;
  readonly gzip: boolean;
}

const PATH = '/api/v1/datasets/upload-experiment';

/** One file on its way to the service. */
export class Upload {
  /** Report on values that the last reading of the file left out. */
  report = new ImportReport();
  private readonly progress: UploadProgress;

  constructor(
    private readonly context: Context,
    private readonly file: UploadFile,
    private readonly options: SendOptions,
  ) {
    this.progress = new UploadProgress(context.out, `Uploading ${basename(file.path)}`, file.bytes);
  }

  async send(): Promise<Answer> {
    const headers = this.options.gzip ? { 'content-encoding': 'gzip' } : undefined;
    const { into } = this.options;
    const call = { method: 'POST', path: PATH, query: { into }, headers, body: () => this.stream() };
    try {
      const { api } = this.context;
      const answer = await (this.file.rereadable ? api.command(call) : api.send(call));
      this.progress.done();
      this.warn();
      return answer;
    } catch (error) {
      this.progress.stop();
      throw error instanceof Refusal ? await this.explained(error) : error;
    }
  }

  private stream(): Readable {
    this.progress.restart();
    const onBytes = (count: number) => this.progress.addBytes(count);
    const onRow = () => this.progress.addRow();
    const onNote = (text: string) => this.report.note(text);
    const { body, gzip } = this.options;
    const pieces = body ? uploadBody(this.checked(this.parsed(onBytes)), body, onRow, onNote) : this.file.open(onBytes);
    const source = Readable.from(pieces, { objectMode: false });
    if (!gzip) return source;
    return pipeline(source, createGzip({ level: constants.Z_BEST_SPEED }), () => undefined);
  }

  private parsed(onBytes: (count: number) => void): AsyncGenerator<FileRow> {
    const { rows, delimiter } = this.options;
    this.report = new ImportReport();
    const options = { ...rows, report: this.report };
    const source = this.file.open(onBytes);
    if (this.file.format === 'jsonl') return jsonRows(source, options);
    return csvRows(source, delimiter ?? (this.file.format === 'tsv' ? '\t' : undefined), options);
  }

  /** The same rows; with `--strict`, only when nothing was left out, so that the body never becomes complete otherwise. */
  private async *checked(rows: AsyncGenerator<FileRow>): AsyncGenerator<FileRow> {
    yield* rows;
    if (!this.options.strict || this.report.isEmpty) return;
    throw new Usage([...this.report.lines(), 'Nothing was uploaded, because of --strict.'].join('\n'));
  }

  private warn(): void {
    if (this.context.out.json) return;
    for (const line of this.report.lines()) this.context.out.warn(line);
  }

  private async explained(refusal: Refusal): Promise<Refusal> {
    const { status, detail, message } = refusal;
    if (status === 422) return this.located(refusal);
    if (status !== 409 || !message.startsWith('Session already exists.') || !this.options.body) return refusal;
    const name = this.options.body.header.experiment_name;
    const said = message.replace(/^.*?\./, () => `An experiment named ${name} exists already.`);
    return new Refusal(
      status,
      detail,
      `${said} Name this one with --experiment-name, or fill its failed rows with --into.`,
    );
  }

  /** The same refusal, with the lines of the rows that it finds fault with: for these the file is read again. */
  private async located({ status, detail, message }: Refusal): Promise<Refusal> {
    const wanted = rowsAtFault({ detail });
    const last = Math.max(-1, ...wanted);
    if (!this.options.body || !this.file.rereadable || last < 0) return new Refusal(status, detail, message);
    const lines = new Map<number, number>();
    let index = 0;
    for await (const { line } of this.parsed(() => undefined)) {
      if (wanted.has(index)) lines.set(index, line);
      if (index++ === last) break;
    }
    const more = message.split('\n').filter((line) => line.startsWith('…'));
    const located = problemLines({ detail }, (row) => lines.get(row)) ?? [];
    return new Refusal(status, detail, [...located, ...more].join('\n'));
  }
}
