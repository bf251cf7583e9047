import { readFileSync } from 'node:fs';
import { Usage } from '../failure';

/** The JSON object in a file, or on standard input for `-`, as text. @throws Usage */
export function bodyFile(file: string): string {
  const shown = file === '-' ? 'Standard input' : file;
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    throw new Usage(`${shown} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Usage(`${shown} is not JSON: ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Usage(`${shown} must hold a JSON object.`);
  }
  return text;
}
