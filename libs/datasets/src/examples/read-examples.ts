import { type CsvColumns, readCsvExamples } from '../datasets/csv-examples';
import {
  type JsonBody,
  MOST_EXAMPLES,
  readJsonExamples,
  readMultipartExamples,
  type SentExamples,
} from './examples-body';

export type ExamplesKind = JsonBody | 'multipart' | 'csv';

export interface ExamplesToRead {
  readonly examples: ExamplesKind;
  readonly body: Uint8Array;
  readonly argument?: string;
  readonly depth: number;
}

const BYTE_ORDER_MARK = 0xef;

export function readExamplesBody({ examples, body, argument = '', depth }: ExamplesToRead): SentExamples {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (examples === 'multipart') return readMultipartExamples(bytes, argument, depth);
  if (examples === 'csv') {
    const columns = JSON.parse(argument) as CsvColumns;
    return { examples: readCsvExamples(bytes, columns, MOST_EXAMPLES), contents: new Map() };
  }
  return readJsonExamples(bytes[0] === BYTE_ORDER_MARK ? bytes.subarray(3) : bytes, examples, depth);
}
