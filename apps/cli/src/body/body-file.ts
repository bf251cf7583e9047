import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import { brokenFile, Usage } from '../failure';

const load = createRequire(__filename);

/** The object that a file holds, and the text to send for it. */
export interface BodyFile {
  readonly shown: string;
  readonly value: unknown;
  readonly json: string;
}

/** The JSON or YAML object, or list, in a file or on standard input for `-`. @throws Usage that names the file and the line */
export function bodyFile(file: string, holds: 'object' | 'list' | 'any' = 'object'): BodyFile {
  const shown = nameOf(file);
  const text = textOf(file);
  const isJson = /\.json$/i.test(file) || (!/\.ya?ml$/i.test(file) && /^\s*(?:[{[]|$)/.test(text));
  const value = isJson ? json(text, shown) : yaml(text, shown);
  if (holds !== 'any' && (typeof value !== 'object' || value === null || Array.isArray(value) !== (holds === 'list'))) {
    throw new Usage(`${shown} must hold ${holds === 'list' ? 'a list' : isJson ? 'a JSON object' : 'a YAML mapping'}.`);
  }
  // Numbers keep the digits that they were written with.
  return { shown, value, json: isJson ? text : JSON.stringify(value) };
}

/** The text of a file, or of standard input for `-`. @throws Usage when it cannot be read or is not UTF-8 */
export function textOf(file: string): string {
  const bytes = contentOf(file);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Usage(`${nameOf(file)} is not UTF-8 text.`);
  }
}

/**
 * Refuses numbers that would be sent as null or with other digits: infinities, NaN and integers beyond 2^53.
 * @param shown what holds them, for the message
 * @throws Usage
 */
export function requireExact(value: unknown, shown: string): void {
  if (
    typeof value === 'number' &&
    (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
  ) {
    throw new Usage(`${shown} has the number ${value}, whose digits cannot be kept: write it in quotes, or send JSON.`);
  }
  if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) requireExact(part, shown);
}

function contentOf(file: string): Buffer {
  try {
    return readFileSync(file === '-' ? 0 : file);
  } catch (error) {
    throw new Usage(`${nameOf(file)} cannot be read: ${brokenFile(error)}.`);
  }
}

/** Name of a file in messages; `-` is standard input. */
export function nameOf(file: string): string {
  return file === '-' ? 'Standard input' : file;
}

function json(text: string, shown: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const { message } = error as Error;
    const place = / at position (\d+)/.exec(message)?.[1];
    const end = text.trimEnd();
    const before = place === undefined ? end : end.slice(0, Number(place));
    const why = message.replace(/ (?:in JSON )?at position .*$/s, '');
    throw new Usage(`${shown} is not JSON: line ${before.split('\n').length}: ${why}`);
  }
}

function yaml(text: string, shown: string): unknown {
  // Loaded only where it is needed: it takes longer to load than all the rest.
  const { parseDocument } = load('yaml') as typeof Yaml;
  const document = parseDocument(text, { prettyErrors: true });
  const [error] = document.errors;
  if (error) {
    const line = error.linePos?.[0].line ?? 1;
    throw new Usage(`${shown} is not YAML: line ${line}: ${error.message.split(/ at line \d+/)[0]}`);
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new Usage(`${shown} is not YAML: ${(error as Error).message}`);
  }
  requireExact(value, shown);
  return value;
}
