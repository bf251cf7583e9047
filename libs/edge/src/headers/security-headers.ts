const HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  // Answers depend on a key that shared caches know nothing of, and some hold secrets.
  'cache-control': 'no-store',
};
const HSTS = { 'strict-transport-security': 'max-age=31536000' };

/**
 * Returns the security headers of every answer; a route may replace them. `https`: clients reach the service over https
 * only.
 */
export function securityHeaders(https: boolean): Readonly<Record<string, string>> {
  return https ? { ...HEADERS, ...HSTS } : HEADERS;
}
