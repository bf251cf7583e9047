// `npm run migrate-store` and `npm run rotate-keys`: installs and builds first, because both may follow an upgrade.
import { ensureBuilt, ensureInstalled, requireNode } from '../start/prepare.mjs';

requireNode();
await ensureInstalled();
await ensureBuilt();
await import('./dist/main.js');
