import { type Optional, readSetting } from '@fairlead/schema';
import { SETTINGS } from './settings';

/** A text that only settings without restrictions accept. */
const NO_VALUE = '?';

/** Returns the page docs/reference/settings.md. */
export function settingsPage(): string {
  const subjects = Object.entries(SETTINGS).map(([subject, settings]) => {
    const rows = Object.entries<Optional<unknown, unknown>>(settings).map(
      ([name, { schema, absent }]) =>
        `| \`${name}\` | ${shown(absent)} | ${takenBy(schema)} | ${String(schema.json.description)} |`,
    );
    return `## ${subject}\n\n| variable | default | value | meaning |\n| --- | --- | --- | --- |\n${rows.join('\n')}`;
  });
  return `${INTRODUCTION}\n\n${subjects.join('\n\n')}\n`;
}

const INTRODUCTION = `<!-- Made by \`node tools/reference/reference.mjs\` from the code that reads the settings. Change that, not this page. -->

# Reference: Settings

Environment variables of every process of the service. An empty variable counts as unset. In place of each variable there may be one with \`_FILE\` after its name, such as \`FAIRLEAD_MASTER_KEY_FILE\`: the file that it names contains the value. A wrong value ends the process with exit code 2 and a sentence that names the variable. [Settings](../guides/settings.md) explains how to use them.`;

/** Returns the values that a setting takes, from its own error message. */
function takenBy(schema: Optional<unknown>['schema']): string {
  try {
    readSetting(schema, NO_VALUE);
    return 'any text';
  } catch (error) {
    const { message } = error as Error;
    return message
      .replace(/, not "\?".*$/, '')
      .replace(/^must (be|have|hold) /, '')
      .replaceAll('|', '\\|');
  }
}

function shown(fallback: unknown): string {
  if (fallback === undefined || fallback === '' || (Array.isArray(fallback) && fallback.length === 0)) return 'unset';
  if (typeof fallback === 'string' || typeof fallback === 'number') return `\`${fallback}\``;
  const { requests, seconds } = fallback as { requests: number; seconds: number };
  return `\`${requests}/${seconds === 1 ? 's' : 'm'}\``;
}
