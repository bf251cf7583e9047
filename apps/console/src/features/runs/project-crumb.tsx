import { Link } from '@tanstack/react-router';
import { useProject } from '../../api/projects';
import { Named } from '../../ui/parts';
import css from './runs.module.css';

/** Link to the project of a run or thread, in the title of its page. */
export function ProjectCrumb({ w, session }: { w: string; session: string }) {
  const name = useProject(w, session).data?.name ?? undefined;
  return (
    <>
      <Link to="/o/$w/projects/p/$session" params={{ w, session }} className={css.crumb}>
        <Named name={name} kind="Project" most={40} />
      </Link>{' '}
      <span className={css.slash}>/</span>
    </>
  );
}
