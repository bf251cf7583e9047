// `npm run bench`: builds, then measures every figure of docs/explained/performance.md against a limit found in the same run.
// `npm run bench -- list patch` measures only those groups and writes nothing; a group that does not exist ends it with the list of groups.
import { spawnSync } from 'node:child_process';

const { status } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
if (status !== 0) process.exit(status ?? 1);
await import('./dist/main.js');
