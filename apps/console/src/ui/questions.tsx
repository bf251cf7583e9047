import { useEffect, useRef } from 'react';
import { type Asked, useAsked } from './ask';
import { Dialog } from './dialog';
import css from './dialog.module.css';
import { Button, Text } from './parts';

/** Shows what is asked, one question after the other. */
export function Questions() {
  const asked = useAsked();
  return asked && <Question key={asked.id} {...asked} />;
}

function Question({ title, text, answers, danger, give }: Asked) {
  const first = useRef<HTMLButtonElement>(null);
  // The dialog, which opens before this effect, gives the focus to its first button.
  useEffect(() => first.current!.focus(), []);
  const names = Object.keys(answers);
  return (
    <Dialog narrow title={title} onClose={() => give(names[0]!)}>
      <p>
        <Text>{text}</Text>
      </p>
      <div className={css.answers}>
        {names.map((name, at) => (
          <Button
            key={name}
            ref={at === 0 ? first : undefined}
            kind={at < names.length - 1 ? 'usual' : danger ? 'danger' : 'main'}
            onClick={() => give(name)}
          >
            {answers[name]}
          </Button>
        ))}
      </div>
    </Dialog>
  );
}
