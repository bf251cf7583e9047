import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const COMPRESSED = /\.(js|css|svg|html|webmanifest)$/;
const SMALLEST = 512;
const LAYERS = '@layer base,ui,feature;';
const COMPARISONS = ['src/features/compare/pages.tsx', 'src/features/compare/shared.tsx'];
/** Most bytes of a page until it is shown, and of all pages together. */
const LIMITS = { comparison: 200_000, page: 150_000, scripts: 450_000, styles: 20_000 };

/** What many pages use is one script and one sheet: a page needs few requests, and the next one none for it. */
const SHARED = {
  name: 'shared',
  test: /src[\\/](ui(?![\\/]views)|api)[\\/]|report[\\/](numbers|flat-text)|@tanstack[\\/]react-query/,
  minShareCount: 6,
};

/** The same for the pages of traces. */
const TRACES = {
  name: 'traces',
  test: /features[\\/]runs[\\/](columns|filters|run-facts|runs\.module)|api[\\/]traces\./,
  minShareCount: 2,
};

/** The same for the pages of deployments. */
const DEPLOYMENTS = {
  name: 'deployments',
  test: /features[\\/]deployments[\\/](words|open|reason|artefact|history|logs[\\/](ansi|log-lines|logs\.module)|deployments\.module)/,
  minShareCount: 2,
};

/** What some pages use, and is too small for a request of its own. */
const SMALL = {
  name: 'small',
  test: /ui[\\/]demo-offer|api[\\/]project-links|useQueries/,
  minShareCount: 2,
};

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

/** Ends a build whose scripts or styles are too large for a browser to wait for, compressed with gzip. */
function budget(): Plugin {
  return {
    name: 'budget',
    apply: 'build',
    writeBundle(_, bundle) {
      const files = Object.values(bundle);
      const scripts = files.filter((file) => file.type === 'chunk');
      const styles = files.flatMap((file) => (file.type === 'asset' && file.fileName.endsWith('.css') ? [file] : []));
      const first = scripts.filter(({ isEntry }) => isEntry);
      const pages = scripts.filter(({ isDynamicEntry }) => isDynamicEntry);
      const bytes = (contents: Iterable<string | Uint8Array>) =>
        [...contents].reduce((sum, content) => sum + gzipSync(content, { level: 9 }).length, 0);
      /** The chunks of these names, and all that are loaded with them. */
      const loaded = (names: readonly string[], found = new Set<string>()): Set<string> => {
        for (const { fileName, imports } of scripts.filter((one) => names.includes(one.fileName))) {
          if (!found.has(fileName)) loaded(imports, found.add(fileName));
        }
        return found;
      };
      const sizes: readonly (readonly [what: string, size: number, limit: number])[] = [
        ...pages.map((page) => {
          const name = relative(import.meta.dirname, page.facadeModuleId!);
          const names = loaded([...first, page].map(({ fileName }) => fileName));
          const codes = scripts.filter(({ fileName }) => names.has(fileName)).map(({ code }) => code);
          return [
            `Scripts of ${name}`,
            bytes(codes),
            COMPARISONS.includes(name) ? LIMITS.comparison : LIMITS.page,
          ] as const;
        }),
        ['All scripts', bytes(scripts.map(({ code }) => code)), LIMITS.scripts],
        ['All styles', bytes(styles.map(({ source }) => source)), LIMITS.styles],
      ];
      const over = sizes.filter(([, size, limit]) => size > limit);
      const lines = over.map(([what, size, limit]) => `${what}: ${size} bytes, of ${limit} at most`);
      if (over.length > 0) this.error(`The console is too large. ${lines.join('. ')}.`);
    },
  };
}

const service = process.env.FAIRLEAD_URL ?? 'http://127.0.0.1:4600';

export default defineConfig({
  plugins: [react(), layers(), compress(), budget()],
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { codeSplitting: { groups: [SHARED, TRACES, DEPLOYMENTS, SMALL] } } },
  },
  server: { proxy: Object.fromEntries(['/api', '/v1', '/v2'].map((path) => [path, { target: service }])) },
});
