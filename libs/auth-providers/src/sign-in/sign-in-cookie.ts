import { hash, timingSafeEqual } from 'node:crypto';

/** The `Set-Cookie` header that binds a sign-in to the browser that opened its address. */
export function signInCookie(state: string, { secure, seconds }: { secure: boolean; seconds: number }): string {
  const attributes = `Path=/v2/auth/callback; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  return `${nameOf(state)}=${valueOf(state)}; ${attributes}`;
}

/** Returns true when a `Cookie` header shows that the sign-in of a state was opened in the same browser. */
export function isSameBrowser(header: string | undefined, state: string): boolean {
  const expected = Buffer.from(`${nameOf(state)}=${valueOf(state)}`);
  return (header ?? '').split(';').some((pair) => {
    const given = Buffer.from(pair.trim());
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** Returns the name of the cookie, which differs for each sign-in, because several may run at a time. */
function nameOf(state: string): string {
  return `fairlead_sign_in_${hash('sha256', `name ${state}`, 'hex').slice(0, 16)}`;
}

function valueOf(state: string): string {
  return hash('sha256', `browser ${state}`, 'base64url');
}
