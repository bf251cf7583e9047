// `npm run bench`: builds, then measures every figure of docs/performance.md against a limit found in the same run.
// `npm run bench -- list patch` measures only those groups (list, pages, patch, upload, large, compare, writes, console, append, replay, tools, disk, calls, stores) and writes nothing.
import { spawnSync } from 'node:child_process';

const { status } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
if (status !== 0) process.exit(status ?? 1);
await import('./dist/main.js');
