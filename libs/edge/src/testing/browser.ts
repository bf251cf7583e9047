import { existsSync } from 'node:fs';
import type { Browser } from 'playwright-core';

/** Debian's Chromium; the build that never opens a window takes half of the processor time, so it is used where it is. */
const PROGRAM = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path));
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];
/** A busy machine may take long to start a browser; only a test that fails waits for so long. */
const PATIENCE_MS = 120_000;

/** Describes what is seen in a browser, where there is one. */
export const inBrowser = PROGRAM ? describe : describe.skip;

/** Starts Chromium; throws when it does not start within two minutes. */
export async function startBrowser(): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath: PROGRAM, args: ARGUMENTS, timeout: PATIENCE_MS });
}
