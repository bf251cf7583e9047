import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../../..');
const LOADER = join(ROOT, 'tools/test/typescript.cjs');
const MAIN = join(__dirname, '../main.ts');

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Run {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Told of everything written to stderr. */
  readonly onErr?: (text: string, child: ChildProcess) => void;
}

/** A folder of its own in which the program runs, as a process, from its sources. */
export class Cli {
  readonly folder = mkdtempSync(join(tmpdir(), 'fairlead-cli-'));
  /** The environment of every run. */
  readonly env: Record<string, string>;

  constructor(env: Readonly<Record<string, string>>) {
    const { PATH = '' } = process.env;
    const XDG_CONFIG_HOME = join(this.folder, 'config');
    mkdirSync(XDG_CONFIG_HOME);
    this.env = { PATH, XDG_CONFIG_HOME, FAIRLEAD_DATA_DIR: join(this.folder, 'data'), ...env };
  }

  /** A file in the folder. Answers its path. */
  file(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text);
    return path;
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8');
  }

  run(args: readonly string[], { input = '', env, onErr }: Run = {}): Promise<Ended> {
    const child = spawn(process.execPath, ['-r', LOADER, MAIN, ...args], {
      cwd: this.folder,
      env: { ...this.env, ...env },
    });
    let [out, err] = ['', ''];
    child.stdout.on('data', (data: Buffer) => (out += data.toString()));
    child.stderr.on('data', (data: Buffer) => {
      err += data.toString();
      onErr?.(err, child);
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })));
  }

  /** The JSON that a command prints. Throws when it fails. */
  async json<T>(args: readonly string[], options?: Run): Promise<T> {
    const { code, out, err } = await this.run([...args, '--json'], options);
    if (code !== 0) throw new Error(`fairlead ${args.join(' ')} ended with ${code}: ${err}`);
    return JSON.parse(out) as T;
  }

  /** Runs a line of shell in which `$FAIRLEAD` is the program. */
  shell(line: string): Promise<Ended> {
    const FAIRLEAD = `${process.execPath} -r ${LOADER} ${MAIN}`;
    const env = { ...this.env, FAIRLEAD };
    const child = spawn('bash', ['-c', line], { cwd: this.folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (data: Buffer) => (out += data.toString()));
    child.stderr.on('data', (data: Buffer) => (err += data.toString()));
    return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
