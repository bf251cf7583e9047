import { Link } from '@tanstack/react-router';
import { useProject } from '../../api/projects';
import { middle } from '../../ui/format';
import { Text } from '../../ui/parts';
import css from './runs.module.css';

/** The project of a run or thread by its name; "Project" until that is known. */
export function ProjectCrumb({ w, session }: { w: string; session: string }) {
  const name = useProject(w, session).data?.name ?? 'Project';
  return (
    <>
      <Link to="/o/$w/projects/p/$session" params={{ w, session }} className={css.crumb}>
        <Text title={name.slice(0, 1000)}>{middle(name, 40)}</Text>
      </Link>{' '}
      <span className={css.slash}>/</span>
    </>
  );
}
