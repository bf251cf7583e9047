import { useState } from 'react';
import { chooseTheme, chosenTheme, type Theme, THEMES } from '../../ui/theme';
import { chooseTimes, type Times, TIMES, useTimes } from '../../ui/times';

/** Chooses the colours of all pages in this browser, and the form of times. */
export function ThemeChoice() {
  const [theme, setTheme] = useState(chosenTheme);
  const times = useTimes();
  return (
    <>
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
      <select aria-label="Times" value={times} onChange={(event) => chooseTimes(event.target.value as Times)}>
        {TIMES.map((one) => (
          <option key={one} value={one}>
            {{ relative: 'Time ago', local: 'Local time', utc: 'UTC' }[one]}
          </option>
        ))}
      </select>
    </>
  );
}
