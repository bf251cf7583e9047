import { readFileSync } from 'node:fs';
import type { PublicKey } from '@fairlead/eventing';

/** The hash of the log at a place, as somebody kept it: by position, or by number where the log may have moved. */
export interface ExpectedHead {
  readonly position?: string;
  readonly count?: number;
  readonly hash: string;
}

/** Facts that the operator knows from outside of the database. */
export interface Trust {
  readonly keys?: readonly PublicKey[];
  readonly heads?: readonly ExpectedHead[];
  /** Milliseconds after which an event is to be sealed. */
  readonly sealEveryMs: number;
}

const HEAD = /^(\d+):([\w-]{43})$/;

/** The keys in a file, as `GET /v1/audit/keys` answers them. @throws Error in one line */
export function readKeys(file: string): readonly PublicKey[] {
  const { keys } = Object(parsed(contents(file))) as { keys?: unknown };
  const usable =
    Array.isArray(keys) && keys.every((key: unknown) => typeof (Object(key) as PublicKey).kid === 'string');
  if (!usable || keys.length === 0) throw new Error(`${file} holds no keys.`);
  return keys as PublicKey[];
}

/** `position:hash`, or a file with such lines or seals as they were sent out, one a line. @throws Error in one line */
export function readHeads(text: string): readonly ExpectedHead[] {
  if (HEAD.test(text)) return [headOf(text, text)];
  const lines = contents(text)
    .split('\n')
    .filter((line) => line.trim() !== '');
  if (lines.length === 0) throw new Error(`${text} holds no head.`);
  return lines.map((line) => headOf(line.trim(), text));
}

function headOf(line: string, source: string): ExpectedHead {
  const [, position, hash] = HEAD.exec(line) ?? [];
  if (position !== undefined && hash !== undefined) return { position: String(BigInt(position)), hash };
  const seal = Object(parsed(line)) as ExpectedHead;
  if (typeof seal.hash === 'string' && /^\d+$/.test(String(seal.position)) && Number.isSafeInteger(seal.count)) {
    return { position: String(seal.position), count: seal.count, hash: seal.hash };
  }
  throw new Error(`${source} must be position:hash, or a file with such lines or with seals.`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function contents(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`, { cause: error });
  }
}
