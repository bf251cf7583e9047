import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt, ensureInstalled, requireNode, root } from '../start/prepare.mjs';

requireNode();
await ensureInstalled();
await ensureBuilt();
// In this process, so that signals reach it.
await import(pathToFileURL(join(root, 'apps', 'cluster', 'dist', 'main.js')).href);
