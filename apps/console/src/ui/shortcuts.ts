import { useEffect } from 'react';

const NAME = 'fairlead.shortcuts';
const FIELDS = 'input:not([type=checkbox]), select, textarea';

/** True when this browser uses keyboard shortcuts. */
export function shortcutsOn(): boolean {
  return localStorage.getItem(NAME) !== 'off';
}

export function switchShortcuts(on: boolean): void {
  if (on) localStorage.removeItem(NAME);
  else localStorage.setItem(NAME, 'off');
}

/** True when a pressed key is meant for the page: neither for a field nor for an open dialog. */
export function isForPage({ target }: KeyboardEvent): boolean {
  return !(target as HTMLElement).closest(FIELDS) && !document.querySelector('dialog[open]');
}

/** Calls the function of a pressed single key while a page, or a part of one, is shown; other keys do nothing. */
export function useShortcuts(commands: Readonly<Record<string, (() => void) | undefined>>): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, defaultPrevented } = event;
      const command = Object.hasOwn(commands, key) ? commands[key] : undefined;
      // The second key of a shortcut such as `g d` was taken before.
      if (!command || defaultPrevented || ctrlKey || metaKey || altKey) return;
      if (!shortcutsOn() || !isForPage(event)) return;
      event.preventDefault();
      command();
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  });
}
