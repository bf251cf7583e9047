/** SQLSTATEs of data exceptions and violated constraints, whose messages contain values. */
const QUOTING = /^2[23]/;
const MOST_CAUSES = 5;

/**
 * Returns an error for the log: its name, message and stack, and those of its causes. Statements, parameters and
 * answers are left out.
 */
export function loggedError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const code = codeOf(error);
  const message = QUOTING.test(code ?? '') ? error.message.replaceAll(/".*?"/gs, '"…"') : error.message;
  const places = error.stack?.split('\n').filter((line) => /^\s+at /.test(line));
  return {
    type: error.name,
    message,
    ...(code !== undefined && { code }),
    stack: places?.join('\n'),
    ...(error.cause !== undefined && depth < MOST_CAUSES && { cause: loggedError(error.cause, depth + 1) }),
  };
}

function codeOf(error: Error): string | undefined {
  const { code } = Object('driverError' in error ? error.driverError : error) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
