const ATTENDED_MS = 300_000;
const INPUTS = ['keydown', 'pointerdown', 'pointermove', 'wheel'] as const;

let usedAt = Date.now();
for (const type of INPUTS) {
  globalThis.addEventListener?.(type, () => (usedAt = Date.now()), { capture: true, passive: true });
}

/** Says that a request is no use of the session: the page sends it by itself. */
export const UNATTENDED = { 'x-unattended': 'true' } as const;

/** The headers of a request that a page sends: a session is not kept from ending where nobody has touched the page lately. */
export function attendance(): Readonly<Record<string, string>> {
  return Date.now() - usedAt < ATTENDED_MS ? {} : UNATTENDED;
}
