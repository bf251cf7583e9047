// `npm run test:faults`: the full form of the fault suite, of which every test run does a short one. It takes about half an
// hour. What it measures is in .cache/faults.txt afterwards. `npm run test:faults -- overload` runs only the files so named.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled, requireNode, root } from '../start/prepare.mjs';

requireNode();
await ensureInstalled();
// Processes run from what has been built, as in production; with Kafka, where it can run.
await ensureBuilt();
const fetched = spawnSync(process.execPath, [join(root, 'tools/kafka/kafka.mjs'), '--fetch'], { stdio: 'ignore' });
if (fetched.status !== 0) console.error('No Java, no Maven, or no jars from it: everything is tested without Kafka.');

const report = join(root, '.cache', 'faults.txt');
mkdirSync(join(root, '.cache'), { recursive: true });
rmSync(report, { force: true });
Object.assign(process.env, { FAIRLEAD_FAULTS: 'full', FAIRLEAD_FAULTS_REPORT: report });
const chosen = process.argv.splice(2);
const elsewhere = ['log/kill', 'api/fuzz', 'api/foreign-ids', 'console/console-frame', 'operations/docs'].map(
  (name) => `apps/e2e/src/${name}.spec.ts`,
);
const files =
  chosen.length > 0 ? chosen.map((name) => `tools/faults/src/suites/${name}`) : ['tools/faults/src/', ...elsewhere];
process.argv.push(...files, '--runInBand');
await import('../test/test.mjs');
