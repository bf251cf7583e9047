import { useState } from 'react';
import { chooseTheme, chosenTheme, type Theme, THEMES } from '../../ui/theme';

/** Chooses the colours of all pages in this browser. */
export function ThemeChoice() {
  const [theme, setTheme] = useState(chosenTheme);
  return (
    <select
      aria-label="Theme"
      value={theme}
      onChange={(event) => {
        const chosen = event.target.value as Theme;
        chooseTheme(chosen);
        setTheme(chosen);
      }}
    >
      {THEMES.map((one) => (
        <option key={one} value={one}>
          {{ system: 'System', light: 'Light', dark: 'Dark' }[one]}
        </option>
      ))}
    </select>
  );
}
