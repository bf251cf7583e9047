import { Text } from '../../ui/parts';
import css from './deployments.module.css';

/** Why something has failed or waits, line by line. */
export function Reason({ text }: { text: string }) {
  return (
    <span className={css.lines}>
      {text.split('\n').map((line, at) => (
        <span key={at}>
          <Text>{line}</Text>
        </span>
      ))}
    </span>
  );
}
