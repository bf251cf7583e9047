/** Stops the server of the test run and removes its directory. */
export default async function globalTeardown(): Promise<void> {
  await globalThis.fairleadTestServer?.stop();
}
