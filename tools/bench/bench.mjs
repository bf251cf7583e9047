// `npm run bench`: builds, then measures every figure of docs/performance.md against a limit found in the same run.
import { spawnSync } from 'node:child_process';

const { status } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
if (status !== 0) process.exit(status ?? 1);
await import('./dist/main.js');
