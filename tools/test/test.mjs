import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled, requireNode, root } from '../start/prepare.mjs';

requireNode();
await ensureInstalled();

const directory = mkdtempSync(join(tmpdir(), 'fairlead-results-'));
const results = join(directory, 'results.json');
const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
const child = spawn(process.execPath, [jest, ...process.argv.slice(2), '--json', `--outputFile=${results}`], {
  cwd: root,
  stdio: 'inherit',
});
process.on('SIGINT', () => undefined);
const code = await new Promise((resolve) => child.once('exit', (exitCode) => resolve(exitCode ?? 1)));
console.log(summary());
rmSync(directory, { recursive: true, force: true });
process.exitCode = code;

/** `N passed, N failed`, and how many were skipped if any; a file that could not run is one failure. */
function summary() {
  const counts = read();
  const failed = counts.numFailedTests + counts.numRuntimeErrorTestSuites;
  const skipped = counts.numPendingTests + counts.numTodoTests;
  return `${counts.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function read() {
  try {
    return JSON.parse(readFileSync(results, 'utf8'));
  } catch {
    // Jest ended before it had results: with an error, unless nothing was asked to run.
    const failed = code === 0 ? 0 : 1;
    return {
      numPassedTests: 0,
      numFailedTests: failed,
      numRuntimeErrorTestSuites: 0,
      numPendingTests: 0,
      numTodoTests: 0,
    };
  }
}
