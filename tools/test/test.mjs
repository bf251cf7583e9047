import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ensureInstalled, requireNode, root } from '../start/prepare.mjs';

requireNode();
await ensureInstalled();

// Test files load the same modules again and again: fewer collections, and what is compiled is kept.
const FLAGS = ['--min-semi-space-size=32', '--max-semi-space-size=64', '--no-flush-bytecode'];
const directory = mkdtempSync(join(tmpdir(), 'fairlead-results-'));
const results = join(directory, 'results.json');
const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
const child = spawn(process.execPath, [...FLAGS, jest, ...process.argv.slice(2), '--json', `--outputFile=${results}`], {
  cwd: root,
  stdio: 'inherit',
});
process.on('SIGINT', () => undefined);
const code = await new Promise((resolve) => child.once('exit', (exitCode) => resolve(exitCode ?? 1)));
const counts = readCounts();
rmSync(directory, { recursive: true, force: true });
console.log(slowest(counts?.testResults ?? []));
console.log(summary(counts));
process.exitCode = counts === undefined ? 1 : code;

/** `N passed, N failed`, and how many were skipped if any; a file that could not run is one failure, a run without results too. */
function summary(counts) {
  if (counts === undefined) return '0 passed, 1 failed';
  const failed = counts.numFailedTests + counts.numRuntimeErrorTestSuites;
  const skipped = counts.numPendingTests + counts.numTodoTests;
  return `${counts.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** The ten files that took longest, a line each (seconds). */
function slowest(files) {
  const timed = files.map(({ name, startTime, endTime }) => [relative(root, name), (endTime - startTime) / 1000]);
  const rows = timed.sort(([, a], [, b]) => b - a).slice(0, 10);
  return ['Slowest files:', ...rows.map(([name, seconds]) => `${seconds.toFixed(1).padStart(7)} s  ${name}`)].join(
    '\n',
  );
}

/** Jest's totals, undefined when it ended before it had any. */
function readCounts() {
  try {
    return JSON.parse(readFileSync(results, 'utf8'));
  } catch {
    return undefined;
  }
}
