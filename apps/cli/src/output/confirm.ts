import { createInterface } from 'node:readline/promises';
import type { Context } from '../api/context';
import { Failure, Interrupted, Usage } from '../failure';

/** Goes on when the user says yes, on the command line or when asked. @throws Failure when not */
export async function confirm(context: Context, question: string, yes: boolean | undefined): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new Usage(`${question} Add --yes to say so.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const ctrlC = new Promise<never>((_, reject) => terminal.once('SIGINT', () => reject(new Interrupted())));
    const answer = await Promise.race([terminal.question(`${question} [y/N] `, { signal: context.signal }), ctrlC]);
    if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('Nothing was done.');
  } finally {
    terminal.close();
  }
}
