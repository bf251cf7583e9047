import { basename } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import type { Answer } from '../api/api';
import type { Context } from '../api/context';
import { csvRows, type RowOptions } from './csv.rows';
import { Refusal } from '../failure';
import { jsonlRows } from './jsonl.rows';
import { problemLines, rowsAtFault } from '../api/problems';
import { type BodyOptions, type FileRow, uploadBody } from './upload-body';
import { bytesOf, type UploadFile } from './upload.file';
import { UploadProgress } from './upload.progress';

interface SendOptions {
  /** How rows become a body; undefined when the file is one. */
  readonly body: BodyOptions | undefined;
  readonly map: ReadonlyMap<string, string>;
  readonly gzip: boolean;
}

const PATH = '/api/v1/datasets/upload-experiment';

/** One file on its way to the service. */
export class Upload {
  private readonly rows: RowOptions;
  private readonly progress: UploadProgress;
  private readonly leftOut = new Set<string>();

  constructor(
    private readonly context: Context,
    private readonly file: UploadFile,
    private readonly options: SendOptions,
  ) {
    this.rows = { map: options.map, onLeftOut: (name) => this.leftOut.add(name) };
    this.progress = new UploadProgress(context.out, `Uploading ${basename(file.path)}`, file.bytes);
  }

  async send(): Promise<Answer> {
    const headers = this.options.gzip ? { 'content-encoding': 'gzip' } : undefined;
    const call = { method: 'POST', path: PATH, headers, body: () => this.stream() };
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
    const { body, gzip } = this.options;
    const pieces = body ? uploadBody(this.parsed(onBytes), body, onRow) : bytesOf(this.file, onBytes);
    const source = Readable.from(pieces, { objectMode: false });
    if (!gzip) return source;
    return pipeline(source, createGzip({ level: constants.Z_BEST_SPEED }), () => undefined);
  }

  private parsed(onBytes: (count: number) => void): AsyncGenerator<FileRow> {
    const source = bytesOf(this.file, onBytes);
    if (this.file.format === 'jsonl') return jsonlRows(source, this.rows);
    return csvRows(source, this.file.format === 'tsv' ? '\t' : ',', this.rows);
  }

  private warn(): void {
    if (this.leftOut.size === 0 || this.context.out.json) return;
    this.context.out.warn(
      `These columns were left out, because no place of a row has their name: ${[...this.leftOut].join(', ')}. See --map.`,
    );
  }

  private async explained(refusal: Refusal): Promise<Refusal> {
    const { status, detail, message } = refusal;
    if (status === 422) return this.located(refusal);
    if (status !== 409 || !message.startsWith('Session already exists.') || !this.options.body) return refusal;
    const name = this.options.body.header.experiment_name;
    const said = message.replace(/^.*?\./, () => `An experiment named ${name} exists already.`);
    return new Refusal(status, detail, `${said} Name this one with --experiment-name.`);
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
