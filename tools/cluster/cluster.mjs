import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt, ensureInstalled, requireNode, root } from '../start/prepare.mjs';

requireNode();
await ensureInstalled();
await ensureBuilt();
// In this process, so that signals reach it. Those that it starts take its flags over: their nurseries are half as large as
// that of `npm start`, since each does a part of the work, and fourteen of them may take three times as much at a time.
await import(pathToFileURL(join(root, 'apps', 'cluster', 'dist', 'main.js')).href);
