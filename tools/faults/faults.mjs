// `npm run test:faults`: the full form of the fault suite, of which every test run does a short one. It takes about half an
// hour. What it measures is in .cache/faults.txt afterwards. `npm run test:faults -- overload` runs only the files so named.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../start/prepare.mjs';

const report = join(root, '.cache', 'faults.txt');
mkdirSync(join(root, '.cache'), { recursive: true });
rmSync(report, { force: true });
Object.assign(process.env, { FAIRLEAD_FAULTS: 'full', FAIRLEAD_FAULTS_REPORT: report });
const chosen = process.argv.splice(2);
process.argv.push(...(chosen.length > 0 ? chosen : ['']).map((name) => `tools/faults/src/${name}`), '--runInBand');
await import('../test/test.mjs');
