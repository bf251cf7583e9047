// `npm run rotate-keys`: builds, then wraps every data key with the current master key, as docs/operations.md says.
import { ensureBuilt, ensureInstalled, requireNode } from '../start/prepare.mjs';

requireNode();
await ensureInstalled();
await ensureBuilt();
await import('./dist/main.js');
