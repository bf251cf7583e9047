// `npm run migrate-store`: builds, then moves the log from PostgreSQL to EventStoreDB, as docs/eventstoredb.md says.
import { spawnSync } from 'node:child_process';

const { status } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
if (status !== 0) process.exit(status ?? 1);
await import('./dist/main.js');
