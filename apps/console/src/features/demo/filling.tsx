import { useEffect, useState } from 'react';
import { fill } from '../../../../cli/src/demo/fill';
import { remove } from '../../../../cli/src/demo/remove';
import { NotMade, type Step } from '../../../../cli/src/demo/service';
import type { storyOf } from '../../../../cli/src/demo/story';
import { Problem, Text } from '../../ui/parts';
import { serviceOf } from './service';

interface FillingProps {
  readonly what: 'make' | 'remove';
  readonly tellStory: typeof storyOf;
  /** Called with a sentence to show, or nothing. */
  readonly onEnd: (note?: string) => void;
}

/** Makes or removes the example while it is shown, and says how far it is. */
export function Filling({ what, tellStory, onEnd }: FillingProps) {
  const [step, setStep] = useState<Step>();
  const [error, setError] = useState<Error>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    const service = serviceOf(stop.signal, setStep);
    const work =
      what === 'make'
        ? fill(service, tellStory).then((made) => made.notDeployed)
        : remove(service, tellStory).then(keptNote);
    setError(undefined);
    work.then(onEnd, (failure: Error) => stop.signal.aborted || setError(failure));
    return () => stop.abort();
  }, [what, attempt]);
  if (error instanceof NotMade) {
    return (
      <p role="alert" style={{ color: 'var(--bad)' }}>
        <Text>{error.message}</Text>
      </p>
    );
  }
  if (error) return <Problem error={error} retry={() => setAttempt(attempt + 1)} />;
  const doing = what === 'remove' ? 'Removing it' : (step?.doing ?? 'Beginning');
  return (
    <p role="status">
      <progress max={step?.of ?? 1} value={what === 'make' ? (step?.done ?? 0) : undefined} aria-label={doing} />{' '}
      {doing}
    </p>
  );
}

function keptNote({ kept }: Awaited<ReturnType<typeof remove>>): string | undefined {
  return kept.length === 0 ? undefined : `Kept ${kept.join(', ')}: it holds what is not the example's.`;
}
