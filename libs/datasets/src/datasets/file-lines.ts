import { object, raw, text } from '@fairlead/runs';
import { shownMetadata } from '../examples/example-metadata';
import type { ExampleRow } from '../examples/examples.queries';
import { csvLine, oneLine } from '../common/csv-line';

export type FileFormat = 'csv' | 'jsonl' | 'openai' | 'openai_ft';

interface Message {
  readonly role: string;
  readonly content: unknown;
}

const COLUMNS = ['row_id', 'inputs', 'expected_outputs', 'name', 'metadata'];

export async function* fileLines(format: FileFormat, examples: AsyncIterable<ExampleRow>): AsyncGenerator<string> {
  if (format === 'csv') yield csvLine(COLUMNS);
  for await (const example of examples) {
    if (format === 'csv') {
      const { id, name, inputs, outputs, metadata } = example;
      yield csvLine([ownRowId(metadata) ?? id, inputs, outputs, name, shownMetadata(metadata)]);
    } else yield `${lineOf(format, example)}\n`;
  }
}

/** The row's own id that an upload keeps in the metadata; undefined without one. */
function ownRowId(metadata: string | null): string | undefined {
  const { row_id: own } = (JSON.parse(metadata ?? '{}') ?? {}) as { readonly row_id?: unknown };
  return typeof own === 'string' ? own : undefined;
}

function lineOf(format: Exclude<FileFormat, 'csv'>, example: ExampleRow): string {
  const { id, name, inputs, outputs, metadata, created, modified } = example;
  if (format === 'jsonl') {
    return oneLine(
      object({
        id: text(id),
        name: text(name),
        inputs,
        outputs: raw(outputs),
        metadata: shownMetadata(metadata),
        created_at: text(created),
        modified_at: text(modified),
      }),
    );
  }
  const asked = messagesOf(inputs, 'user');
  const answered = outputs === null ? [] : messagesOf(outputs, 'assistant');
  if (format === 'openai_ft') return JSON.stringify({ messages: [...asked, ...answered] });
  const contents = answered.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)));
  return JSON.stringify({ input: asked, ideal: contents.join('\n') });
}

/**
 * The messages in an object: the list of messages or the message that it holds, or one message of its only text; an
 * object without any is one message of its JSON. Keys other than those of messages stand beside the messages: they are
 * left out of files that have room for messages only.
 */
function messagesOf(json: string, role: 'user' | 'assistant'): Message[] {
  const values = Object.values(JSON.parse(json) as Readonly<Record<string, unknown>>);
  for (const value of values) {
    const list = (Array.isArray(value) ? value : [value]).map(messageOf);
    if (list.length > 0 && list.every((message) => message !== undefined)) return list;
  }
  const [only] = values;
  return [{ role, content: values.length === 1 && typeof only === 'string' ? only : oneLine(json) }];
}

const ROLES: Readonly<Record<string, string>> = { human: 'user', ai: 'assistant' };

function messageOf(value: unknown): Message | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { role, type, data, content, ...rest } = value as Readonly<Record<string, unknown>>;
  const own = typeof data === 'object' && data !== null ? (data as Readonly<Record<string, unknown>>) : undefined;
  const said = content === undefined ? own?.content : content;
  const who = typeof role === 'string' ? role : type;
  if (typeof who !== 'string' || said === undefined) return undefined;
  // What else belongs to a message, such as calls of tools, stays.
  return { role: ROLES[who] ?? who, content: said, ...(typeof role === 'string' ? rest : {}) };
}
