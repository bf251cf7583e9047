const NAME = 'fairlead.theme';
export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** The theme that was chosen in this browser. */
export function chosenTheme(): Theme {
  const kept = localStorage.getItem(NAME);
  return THEMES.find((theme) => theme === kept) ?? 'system';
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(NAME, theme);
  applyTheme();
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = chosenTheme();
}
