// `npm run kafka`: a real broker from jars, for a laptop, the tests and `npm run cluster`.
import { createRequire } from 'node:module';
import { ensureInstalled, requireNode } from '../start/prepare.mjs';

requireNode();
await ensureInstalled();
const require = createRequire(import.meta.url);
require('../test/typescript.cjs');
require('./src/main.ts');
