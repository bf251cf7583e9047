import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Interrupted } from '../failure';

/** The line that the user types at a terminal without showing it; empty at the end of input. @throws Interrupted */
export function askHidden(question: string): Promise<string> {
  process.stderr.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  return new Promise<string>((resolve, reject) => {
    terminal.once('SIGINT', () => reject(new Interrupted()));
    terminal.once('close', () => resolve(''));
    terminal.question('', resolve);
  }).finally(() => {
    terminal.close();
    process.stderr.write('\n');
  });
}
