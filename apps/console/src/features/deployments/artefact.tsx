import { Text } from '../../ui/parts';
import css from './deployments.module.css';
import { artefact, type Deploying } from './words';

/** Artefact that a revision deploys. */
export function Artefact({ of }: { of: Deploying }) {
  const { short, full } = artefact(of);
  return (
    <span className={css.artefact} title={full}>
      <Text>{short}</Text>
    </span>
  );
}
