import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt, ensureInstalled, requireNode, root } from './prepare.mjs';

requireNode();
await ensureInstalled();
await ensureBuilt();
// In this process, so that signals reach the server itself.
await import(pathToFileURL(join(root, 'apps', 'standalone', 'dist', 'main.js')).href);
