import { createRequire } from 'node:module';
import type * as Jq from 'jq-wasm';
import { Usage } from '../failure';

const load = createRequire(__filename);

/** Exit code of jq for a filter that cannot be compiled. */
const NOT_COMPILED = 3;

/** The filter of `--jq`, which jq itself runs. */
export class JqFilter {
  constructor(private readonly filter: string) {}

  /** @throws Usage with the message of jq for a filter that it cannot compile */
  async check(): Promise<void> {
    const { exitCode, stderr } = await this.run('null', `def filter: ${this.filter}\n; empty`);
    if (exitCode === NOT_COMPILED) throw new Usage(`--jq ${this.filter} is no filter of jq: ${reason(stderr)}`);
  }

  /**
   * The results of the filter, one a line: texts as they are, other values as JSON.
   * @throws Usage after `write` got the results before an error
   */
  async write(json: string, write: (lines: string) => void): Promise<void> {
    const { exitCode, stdout, stderr } = await this.run(json, this.filter);
    if (stdout !== '') write(`${stdout}\n`);
    if (exitCode !== 0) throw new Usage(`--jq ${this.filter}: ${reason(stderr)}`);
  }

  private run(json: string, filter: string) {
    // Loaded only where it is needed, because it takes longer than all the rest.
    const jq = load('jq-wasm') as typeof Jq;
    return jq.raw(json, filter, ['-r', '-c']);
  }
}

function reason(stderr: string): string {
  const [first = ''] = stderr.split('\n');
  return first.replace(/^jq: error:? ?(?:\(at [^)]*\):? ?)?/, '').replace(/ at <top-level>.*$/, '') || 'jq failed.';
}
