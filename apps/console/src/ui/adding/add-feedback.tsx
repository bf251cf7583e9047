import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answered, api } from '../../api/client';
import { Dialog } from '../dialog';
import { Form, TextArea, TextField } from '../form';
import { takesFocus } from './takes-focus';

const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;
/** First members of the keys of queries that show feedback. */
const SHOWN_BY = new Set(['feedback', 'traces', 'row', 'rows', 'row runs', 'comparison', 'experiments', 'run']);

/** Gives feedback of a person on a run. */
export function AddFeedback({ run, onClose }: { run: string; onClose: () => void }) {
  const queries = useQueryClient();
  const [key, setKey] = useState('');
  const [result, setResult] = useState('');
  const [comment, setComment] = useState('');
  const text = result.trim();
  const add = useMutation({
    mutationFn: () =>
      answered(
        api.POST('/api/v1/feedback', {
          body: {
            ...{ run_id: run, key: key.trim(), feedback_source: { type: 'app' as const } },
            ...(text !== '' && (NUMBER.test(text) ? { score: Number(text) } : { value: text })),
            ...(comment.trim() !== '' && { comment }),
          },
        }),
      ),
    onSuccess: () => {
      onClose();
      return queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => SHOWN_BY.has(String(name)) });
    },
  });
  return (
    <Dialog title="Add feedback" onClose={onClose} narrow>
      <Form
        action="Add"
        onSubmit={() => add.mutate()}
        onCancel={onClose}
        busy={add.isPending}
        disabled={key.trim() === '' || (text === '' && comment.trim() === '')}
        error={add.error}
      >
        <TextField
          label="Key, such as correct"
          value={key}
          onChange={(event) => setKey(event.target.value)}
          ref={takesFocus}
        />
        <TextField
          label="Result"
          hint="A number is a score, such as 1 or 0; anything else is a label."
          value={result}
          onChange={(event) => setResult(event.target.value)}
        />
        <TextArea label="Comment" value={comment} onChange={(event) => setComment(event.target.value)} />
      </Form>
    </Dialog>
  );
}
