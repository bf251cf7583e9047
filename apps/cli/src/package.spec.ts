import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { transformSync } from '@swc/core';
import { Double, json } from './testing/double';

/** The package as `npm pack` makes it, installed where nothing of the checkout can be found. */

const { transform } = createRequire(__filename)('../../../jest.config.js') as {
  transform: Readonly<Record<string, [string, object]>>;
};
const CLI = join(__dirname, '..');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-package-'));
  const source = join(folder, 'source');
  for (const name of ['package.json', 'api.json', 'bin', 'LICENSE'])
    cpSync(join(CLI, name), join(source, name), { recursive: true });
  const options = transform['^.+\\.ts$']![1];
  for (const name of readdirSync(__dirname, { recursive: true }) as string[]) {
    if (!name.endsWith('.ts') || name.endsWith('.spec.ts') || name.startsWith('testing/')) continue;
    const filename = join(__dirname, name);
    const target = join(source, 'dist', name.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, transformSync(readFileSync(filename, 'utf8'), { ...options, filename, swcrc: false }).code);
  }
  writeFileSync(join(source, 'dist/main.d.ts'), '');
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], { cwd: source });
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Unpacks the package, with the dependencies that it names and nothing else. Answers its program. */
function installed(): string {
  const modules = join(folder, 'installed/node_modules');
  const own = join(modules, '@fairlead/cli');
  mkdirSync(own, { recursive: true });
  const [archive] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  execFileSync('tar', ['-xzf', join(folder, archive!), '-C', own, '--strip-components=1']);
  const add = (manifest: string) => {
    const { dependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as { dependencies?: object };
    for (const name of Object.keys(dependencies)) {
      if (existsSync(join(modules, name))) continue;
      const from = createRequire(manifest.startsWith(own) ? join(CLI, 'package.json') : manifest);
      const found = from.resolve
        .paths(name)!
        .map((path) => join(path, name))
        .find((path) => existsSync(path))!;
      cpSync(found, join(modules, name), { recursive: true });
      add(join(found, 'package.json'));
    }
  };
  add(join(own, 'package.json'));
  return join(own, 'bin/fairlead.js');
}

it('holds what runs, and runs without the checkout', async () => {
  const program = installed();
  const own = join(dirname(program), '..');
  expect(readdirSync(own).sort()).toEqual(['LICENSE', 'api.json', 'bin', 'dist', 'package.json']);
  // The same text as the project's.
  expect(readFileSync(join(own, 'LICENSE'))).toEqual(readFileSync(join(CLI, '../../LICENSE')));
  expect(existsSync(join(own, 'dist/main.d.ts'))).toBe(false);
  const run = (...args: string[]) =>
    execFileSync(process.execPath, [program, ...args], { cwd: folder, encoding: 'utf8' });
  expect(run('--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(run('completion', 'bash')).toContain('complete -o filenames -F _fairlead fairlead');
  const double = new Double();
  double.answer = (_, response) => json(response, 200, { status: 'live' });
  const url = await double.start();
  writeFileSync(join(folder, 'wrong.yaml'), 'name: a\nprovidr: github\n');
  const ended = (args: string[]) =>
    new Promise<[number | null, string]>((resolve) => {
      const child = spawn(process.execPath, [program, ...args, '--url', url, '--key', 'a-key'], { cwd: folder });
      let text = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (text += data.toString()));
      child.once('close', (code) => resolve([code, text]));
    });
  expect(await ended(['service', 'live'])).toEqual([0, 'status  live\n']);
  const wrong = await ended(['integrations', 'create', '-f', 'wrong.yaml']);
  expect(wrong).toEqual([2, expect.stringContaining('no member providr. Did you mean provider?')]);
  double.stop();
});
