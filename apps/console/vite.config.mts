import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const COMPRESSED = /\.(js|css|svg|html|webmanifest)$/;
const SMALLEST = 512;
const LAYERS = '@layer base,ui,feature;';

/** Names the order of the layers first in each style sheet, because pages load them in any order. */
function layers(): Plugin {
  return {
    name: 'layers',
    apply: 'build',
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type === 'asset' && file.fileName.endsWith('.css')) file.source = LAYERS + String(file.source);
      }
    },
  };
}

/** Writes each file compressed beside it, as the service serves it. */
function compress(): Plugin {
  return {
    name: 'compress',
    apply: 'build',
    writeBundle({ dir }) {
      for (const entry of readdirSync(dir!, { recursive: true, withFileTypes: true })) {
        const file = join(entry.parentPath, entry.name);
        if (!entry.isFile() || !COMPRESSED.test(file)) continue;
        const bytes = readFileSync(file);
        if (bytes.length < SMALLEST) continue;
        writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
        writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }));
      }
    },
  };
}

const service = process.env.FAIRLEAD_URL ?? 'http://127.0.0.1:4600';

export default defineConfig({
  plugins: [react(), layers(), compress()],
  build: { target: 'es2023', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: { proxy: Object.fromEntries(['/api', '/v1', '/v2'].map((path) => [path, { target: service }])) },
});
