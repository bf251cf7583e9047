const NAME = 'fairlead.shortcuts';
const FIELDS = 'input:not([type=checkbox]), select, textarea';

/** Whether this browser uses keyboard shortcuts. */
export function shortcutsOn(): boolean {
  return localStorage.getItem(NAME) !== 'off';
}

export function switchShortcuts(on: boolean): void {
  if (on) localStorage.removeItem(NAME);
  else localStorage.setItem(NAME, 'off');
}

/** Whether a pressed key is meant for the page: neither for a field nor for an open dialog. */
export function isForPage({ target }: KeyboardEvent): boolean {
  return !(target as HTMLElement).closest(FIELDS) && !document.querySelector('dialog[open]');
}
