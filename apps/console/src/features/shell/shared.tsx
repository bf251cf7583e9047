import { Outlet } from '@tanstack/react-router';
import { Mark } from './login';
import css from './shell.module.css';
import { ThemeChoice } from './theme-choice';

/** The frame of what is shared with whoever has its address: nobody is signed in, and nothing leads further. */
export function Shared() {
  return (
    <div className={css.frame}>
      <header className={css.bar}>
        <a href="/" className={css.home} aria-label="Fairlead, experiments">
          <Mark />
          <span>Fairlead</span>
        </a>
        <span className={css.sharedNote}>Shared: whoever has this address can read it.</span>
        <div className={css.who}>
          <ThemeChoice />
        </div>
      </header>
      <Outlet />
    </div>
  );
}
