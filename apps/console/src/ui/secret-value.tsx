import { useEffect, useState } from 'react';
import { useEnded } from '../api/held';
import { Copy, Text } from './parts';
import css from './parts.module.css';

/** A secret that is shown once, with a button that copies it. It goes when the session ends. */
export function SecretValue({ value }: { value: string }) {
  const ended = useEnded();
  const [isGone, setGone] = useState(ended);
  useEffect(() => {
    if (ended) setGone(true);
  }, [ended]);
  if (isGone || ended) return <p>The session ended, so the value is not shown any more.</p>;
  return (
    <div className={css.secret}>
      <code tabIndex={0}>
        <Text>{value}</Text>
      </code>
      <Copy text={value}>Copy</Copy>
    </div>
  );
}
