import { Session } from 'node:inspector/promises';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(__dirname, '../../../..');
const SOURCES = /^libs\/[^/]+\/src\//;
/** Function that a compiler writes for an export: it only hands out what another module asks for. */
const HANDED_OUT = /^(get [\w$]+ |function ?)?\(\)\s*\{\s*return (?!this\b)[\w$]+(\.[\w$]+|\[k\])?;?\s*\}$/;

/**
 * Returns the source files of libraries in which every run of `work` executes a function, by V8's precise coverage. What
 * timers do meanwhile falls into some runs, but not into all.
 */
export async function executedFiles(work: () => Promise<unknown>, runs: number): Promise<string[]> {
  const session = new Session();
  session.connect();
  await session.post('Debugger.enable');
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  try {
    let common: ReadonlySet<string> | undefined;
    for (let run = 0; run < runs; run++) {
      await session.post('Profiler.takePreciseCoverage');
      await work();
      const { result } = await session.post('Profiler.takePreciseCoverage');
      const files = new Set<string>();
      for (const { scriptId, url, functions } of result) {
        const file = relative(ROOT, url.startsWith('file:') ? fileURLToPath(url) : url);
        if (!SOURCES.test(file)) continue;
        const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId });
        const called = functions.flatMap(({ ranges: [whole] }) => (whole && whole.count > 0 ? [whole] : []));
        const ownText = ({ startOffset, endOffset }: { startOffset: number; endOffset: number }) =>
          scriptSource.slice(startOffset, endOffset);
        if (called.some((range) => !HANDED_OUT.test(ownText(range)))) files.add(file);
      }
      common = common === undefined ? files : new Set([...files].filter((file) => common!.has(file)));
    }
    return [...(common ?? [])].sort();
  } finally {
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
  }
}
