// `npm run test:kubernetes`: builds a real Kubernetes control plane from its Go modules, starts it, and runs the tests
// that need one, or those that are named. `-- --serve` starts it for other clients until Ctrl-C; `-- --lint` only looks at
// the sources.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { root } from '../start/prepare.mjs';

const OLDEST_GO = [1, 26];
/** Specs named `….kubernetes.spec.ts`, and the one that holds the stand-in against the real server. */
const SPECS = ['kubernetes\\.spec\\.ts$', 'fake-cluster\\.spec\\.ts$'];
const SERVE = '--serve';
const LINT = '--lint';

const source = dirname(fileURLToPath(import.meta.url));
const program = join(root, '.cache', 'kubernetes', 'control-plane');
const go = (...args) => execFileSync('go', args, { cwd: source, stdio: ['ignore', 'inherit', 'inherit'] });

if (!hasGo()) {
  console.log(
    `Nothing was tested: the Kubernetes control plane is built with Go ${OLDEST_GO.join('.')} or newer, and there is` +
      ' none on the path (https://go.dev/dl/).',
  );
  process.exit();
}
const unformatted = execFileSync('gofmt', ['-l', '.'], { cwd: source, encoding: 'utf8' });
if (unformatted) refuse(`gofmt would change these files in tools/kubernetes:\n${unformatted}`);
if (process.argv.includes(LINT)) {
  // Looks at everything that is imported too; with the flags of the build, it finds most of it in Go's cache.
  go('vet', '-trimpath', '.');
  process.exit();
}
console.log('Building the control plane; the first time takes about ten minutes …');
const begin = Date.now();
try {
  go('build', '-trimpath', '-ldflags=-s -w', '-o', program, '.');
} catch {
  refuse('Nothing was tested: the control plane could not be built; what Go wrote above says why.');
}
console.log(`Built in ${Math.round((Date.now() - begin) / 1000)} s.`);

const directory = mkdtempSync(join(tmpdir(), 'fairlead-kubernetes-'));
// It ends when its standard input does, which is with this process at the latest.
const plane = spawn(program, ['run', directory], { stdio: ['pipe', 'pipe', 'inherit'] });
const ended = new Promise((resolve) => plane.once('exit', resolve));
process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
const line = await new Promise((resolve) => {
  createInterface({ input: plane.stdout }).once('line', resolve).once('close', resolve);
});
if (line === undefined) refuse('Nothing was tested: the control plane did not start; what it wrote above says why.');
const { version, seconds, kubeconfig } = JSON.parse(line);
console.log(`Kubernetes ${version} started in ${seconds} s.`);
process.env.FAIRLEAD_KUBERNETES = line;
if (process.argv.includes(SERVE)) {
  console.log(`export KUBECONFIG=${kubeconfig}\nexport FAIRLEAD_KUBERNETES='${line}'`);
  await new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve));
} else {
  if (process.argv.length === 2) process.argv.push(...SPECS);
  await import('../test/test.mjs');
}
plane.stdin.end();
await ended;

function hasGo() {
  try {
    const [, major, minor] = /go(\d+)\.(\d+)/.exec(execFileSync('go', ['version'], { encoding: 'utf8' }));
    return major > OLDEST_GO[0] || (Number(major) === OLDEST_GO[0] && minor >= OLDEST_GO[1]);
  } catch {
    return false;
  }
}

function refuse(sentence) {
  console.error(sentence);
  process.exit(1);
}
